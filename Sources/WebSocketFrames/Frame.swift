/// What a frame is for (RFC 6455 §5.2).
package enum Opcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Control frames may come between the fragments of a message (RFC 6455 §5.5).
    package var isControl: Bool { rawValue >= 0x8 }
}

/// Why a connection has to be closed: the other side doesn't keep to the protocol, or to what is allowed here.
package struct FrameViolation: Error, Equatable, Sendable {
    /// The code to close with (RFC 6455 §7.4.1).
    package let code: UInt16
    package let message: String

    static func malformed(_ message: String) -> FrameViolation { FrameViolation(code: 1002, message: message) }
    static let notText = FrameViolation(code: 1007, message: "A text isn't UTF-8.")
    static func tooLarge(_ message: String) -> FrameViolation { FrameViolation(code: 1009, message: message) }
}

/// Which side of a connection one is: a client masks what it sends, a server doesn't (RFC 6455 §5.1).
package enum FrameRole: Sendable { case client, server }

/// What a close frame says (RFC 6455 §5.5.1).
package struct CloseFrame: Equatable, Sendable {
    /// Nil: none was sent.
    package var code: UInt16?
    package var reason: String

    package init(code: UInt16?, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// Reads a payload of 125 bytes at most.
    init(payload: [UInt8]) throws(FrameViolation) {
        guard payload.count >= 2 else {
            guard payload.isEmpty else { throw .malformed("A close frame has half a code.") }
            self.init(code: nil)
            return
        }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard Self.mayBeSent(code) else { throw .malformed("A close frame has the code \(code), which can't be sent.") }
        var check = UTF8Check()
        guard payload[2...].withUnsafeBytes({ check.take($0) }), check.isAtBoundary else { throw .notText }
        self.init(code: code, reason: String(decoding: payload[2...], as: UTF8.self))
    }

    /// Its payload; a reason that is too long for it is cut at a character.
    package var payload: [UInt8] {
        guard let code else { return [] }
        var bytes = [UInt8(code >> 8), UInt8(code & 0xFF)]
        for character in reason.unicodeScalars {
            let piece = UTF8.encode(character).map { Array($0) } ?? []
            guard bytes.count + piece.count <= 125 else { break }
            bytes += piece
        }
        return bytes
    }

    /// Whether a code may stand in a frame: not those that only say how a connection ended (RFC 6455 §7.4).
    package static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
