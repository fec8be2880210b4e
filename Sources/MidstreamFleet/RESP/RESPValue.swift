/// A value of the second version of Redis' protocol (RESP2).
enum RESPValue: Sendable, Equatable {
    case text(String)
    case error(String)
    case integer(Int64)
    /// nil: the null bulk string.
    case bytes([UInt8]?)
    /// nil: the null array.
    case array([RESPValue]?)

    var number: Int64? {
        switch self {
        case .integer(let number): number
        case .bytes(let bytes?): Int64(String(decoding: bytes, as: UTF8.self))
        default: nil
        }
    }

    var content: [UInt8]? {
        switch self {
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        default: nil
        }
    }

    var string: String? { content.map { String(decoding: $0, as: UTF8.self) } }

    var elements: [RESPValue]? { if case .array(let values) = self { values } else { nil } }
}

/// A command: its name and arguments.
struct RESPCommand: Sendable {
    enum Word: Sendable, Equatable, ExpressibleByStringInterpolation {
        case text(String)
        case bytes([UInt8])

        init(stringLiteral value: String) { self = .text(value) }
    }

    let words: [Word]

    init(_ words: [Word]) { self.words = words }

    init(_ words: Word...) { self.words = words }

    /// As an array of bulk strings.
    func append(to bytes: inout [UInt8]) {
        bytes += "*\(words.count)\r\n".utf8
        for word in words {
            switch word {
            case .text(let text):
                bytes += "$\(text.utf8.count)\r\n".utf8
                bytes += text.utf8
            case .bytes(let content):
                bytes += "$\(content.count)\r\n".utf8
                bytes += content
            }
            bytes += "\r\n".utf8
        }
    }
}
