internal import Foundation
internal import MidstreamCore

/// Finds the parts of a JSON text (RFC 8259) without decoding it, so that they can be cut out byte for byte.
///
/// It sees to the structure and leaves it to the decoder whether each number and literal is one. It doesn't recurse, so that no
/// depth of nesting can exhaust the stack.
struct JSONScanner {
    struct Malformed: Error {}

    /// What is at the end of a path.
    enum Finding: Equatable {
        case found(Range<Int>)
        /// How many steps lead somewhere, and what is there.
        case missing(depth: Int, kind: String)
    }

    private let bytes: UnsafeRawBufferPointer
    private var position: Int

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        // A byte order mark may be ignored (RFC 8259 §8.1).
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// Looks for a value. Of several members of the same name the last counts.
    ///
    /// - Throws: ``Malformed`` when the text isn't JSON as far as it had to be looked at.
    static func find(_ path: [JSONStep], in data: Data) throws -> Finding {
        try data.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            var range = try scanner.value()
            try scanner.expectEnd()
            for (depth, step) in path.enumerated() {
                scanner.position = range.lowerBound
                guard let next = try scanner.child(step) else {
                    return .missing(depth: depth, kind: Self.kind(of: bytes[range.lowerBound]))
                }
                range = next
            }
            return .found(range)
        }
    }

    /// What kind of value begins with a byte.
    private static func kind(of byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "{"): "an object"
        case UInt8(ascii: "["): "an array"
        case UInt8(ascii: "\""): "a string"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
        case UInt8(ascii: "n"): "null"
        default: "a number"
        }
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 32 || byte == 9 || byte == 10 || byte == 13 { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expectEnd() throws {
        skipSpace()
        guard current == nil else { throw Malformed() }
    }

    /// The member or element of the value that begins here.
    private mutating func child(_ step: JSONStep) throws -> Range<Int>? {
        switch step {
        case .key(let key):
            var found: Range<Int>?
            guard take("{"), !take("}") else { return nil }
            repeat {
                skipSpace()
                let name = try string()
                guard take(":") else { throw Malformed() }
                let value = try value()
                if matches(name, key) { found = value }
            } while take(",")
            guard take("}") else { throw Malformed() }
            return found
        case .index(let index):
            guard index >= 0, take("["), !take("]") else { return nil }
            var place = 0
            repeat {
                let element = try value()
                if place == index { return element }
                place += 1
            } while take(",")
            guard take("]") else { throw Malformed() }
            return nil
        }
    }

    /// Whether a string, quotes included, is the key.
    private func matches(_ string: Range<Int>, _ key: String) -> Bool {
        let content = bytes[(string.lowerBound + 1)..<(string.upperBound - 1)]
        guard content.contains(UInt8(ascii: "\\")) else { return content.elementsEqual(key.utf8) }
        return (try? JSONDecoder().decode(String.self, from: Data(bytes[string]))) == key
    }

    /// Skips a string, quotes included.
    private mutating func string() throws -> Range<Int> {
        let start = position
        guard current == UInt8(ascii: "\"") else { throw Malformed() }
        position += 1
        while let byte = current {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return start..<position }
        }
        throw Malformed()
    }

    /// Skips a value of any depth.
    private mutating func value() throws -> Range<Int> {
        skipSpace()
        let start = position
        var closers: [UInt8] = []
        repeat {
            skipSpace()
            guard let byte = current else { throw Malformed() }
            switch byte {
            case UInt8(ascii: "\""): _ = try string()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                // The closing bracket is two characters behind the opening one in ASCII, for either kind.
                closers.append(byte + 2)
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard closers.popLast() == byte else { throw Malformed() }
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard !closers.isEmpty else { throw Malformed() }
                position += 1
            default: try scalar()
            }
        } while !closers.isEmpty
        return start..<position
    }

    /// Skips a number or a literal.
    private mutating func scalar() throws {
        let start = position
        while let byte = current, !",:]}[{\" \t\n\r".utf8.contains(byte) { position += 1 }
        guard position > start else { throw Malformed() }
    }
}
