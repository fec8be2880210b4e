/// The head of a frame (RFC 6455 §5.2), read byte by byte: what is wrong with it is told as soon as it has come.
struct FrameHead {
    private(set) var length = 0
    /// Of a server's reader alone.
    private(set) var mask: UInt32?
    private(set) var isFinal = false
    /// RSV1, which permessage-deflate sets in a message's first frame (RFC 7692 §6).
    private(set) var isCompressed = false
    private(set) var opcode = Opcode.continuation
    /// How many bytes have come.
    private var count: UInt8 = 0
    private var lengthBytes: UInt8 = 0
    private var isMasked = false

    var hasBegun: Bool { count > 0 }

    /// Takes a byte; true when the head is whole.
    mutating func take(_ byte: UInt8, role: FrameRole, allowsCompression: Bool) throws(FrameViolation) -> Bool {
        defer { count += 1 }
        switch count {
        case 0:
            isFinal = byte & 0x80 != 0
            isCompressed = byte & 0x40 != 0
            guard byte & 0x30 == 0, !isCompressed || allowsCompression else {
                throw .malformed("A frame has reserved bits that weren't agreed on.")
            }
            guard let opcode = Opcode(rawValue: byte & 0x0F) else { throw .malformed("A frame has a reserved opcode.") }
            self.opcode = opcode
            guard !isCompressed || opcode == .text || opcode == .binary else {
                throw .malformed("A frame is marked as compressed that can't be.")
            }
            guard isFinal || !opcode.isControl else { throw .malformed("A control frame is fragmented.") }
            return false
        case 1:
            isMasked = byte & 0x80 != 0
            guard isMasked == (role == .server) else {
                throw .malformed(isMasked ? "The server has masked a frame." : "The client hasn't masked a frame.")
            }
            length = Int(byte & 0x7F)
            guard length <= 125 || !opcode.isControl else { throw .malformed("A control frame is longer than 125 bytes.") }
            lengthBytes = length == 126 ? 2 : length == 127 ? 8 : 0
            if lengthBytes > 0 { length = 0 }
        case 2..<(2 + lengthBytes):
            guard count > 2 || lengthBytes == 2 || byte & 0x80 == 0 else {
                throw .malformed("The length of a frame has 64 bits.")
            }
            // Where numbers have 32 bits, it would lose some, and the bytes that follow would be read for other frames.
            guard length <= Int.max >> 8 else { throw .tooLarge("A frame is larger than memory.") }
            length = length << 8 | Int(byte)
            if count == 1 + lengthBytes, length < (lengthBytes == 2 ? 126 : 65_536) {
                throw .malformed("The length of a frame isn't written in as few bytes as it takes.")
            }
        default: mask = (mask ?? 0) << 8 | UInt32(byte)
        }
        return count + 1 == 2 + lengthBytes + (isMasked ? 4 : 0)
    }
}
