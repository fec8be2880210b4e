/// Finds frames in the bytes of a connection, and puts messages together from them (RFC 6455 §5.4).
///
/// Bytes may come in pieces of any size. A text that isn't UTF-8 is refused at its first wrong byte.
package struct MessageReader: ~Copyable {
    package enum Event: Equatable, Sendable {
        case text(String)
        case binary([UInt8])
        case ping([UInt8])
        case pong([UInt8])
        /// Nothing is read after it.
        case close(CloseFrame)
    }

    private let messageLimit: Int
    private let fragmentLimit: Int
    private let inflater: Inflater?
    private let role: FrameRole

    private var head = FrameHead()
    /// How much of the frame's payload is still to come; nil: its head.
    private var rest: Int?
    private var hasClosed = false
    private var control: [UInt8] = []

    /// The kind of the message whose fragments are coming.
    private var kind: Opcode?
    private var isCompressed = false
    private var fragments = 0
    private var message = MessagePayload()
    private var text = UTF8Check()

    /// - Parameters:
    ///   - role: The side that reads.
    ///   - messageLimit: The largest message, once inflated.
    ///   - fragmentLimit: The most frames of one message, empty ones included; by default one for each 64 bytes of the largest message,
    ///     and 10,000 at least.
    ///   - inflater: Nil: compression hasn't been agreed on.
    package init(role: FrameRole, messageLimit: Int, fragmentLimit: Int? = nil, inflater: Inflater? = nil) {
        self.role = role
        self.messageLimit = messageLimit
        self.fragmentLimit = fragmentLimit ?? max(10_000, messageLimit / 64)
        self.inflater = inflater
    }

    /// What is kept for the message that is coming.
    var room: Int { message.room }

    /// Whether the next byte is the first of a frame.
    package var isBetweenFrames: Bool { rest == nil && !head.hasBegun }

    /// Takes what has come; what is whole by then is handed over, in order.
    package mutating func take(_ bytes: [UInt8], _ handle: (Event) -> Void) throws(FrameViolation) {
        var place = 0
        while let event = try next(in: bytes, from: &place) { handle(event) }
    }

    /// Takes what has come as far as it makes one thing whole.
    ///
    /// - Parameter place: Where in the bytes to begin; behind those that were taken then.
    /// - Returns: Nil when all were taken and nothing is whole, and after a close frame.
    package mutating func next(in bytes: [UInt8], from place: inout Int) throws(FrameViolation) -> Event? {
        while place < bytes.count, !hasClosed {
            if let left = rest {
                // The sender may say that it is as much as there are numbers for.
                let end = place + min(left, bytes.count - place)
                rest = left - (end - place)
                try take(bytes[place..<end], isMaskedFrom: head.length - left)
                place = end
            } else {
                let isWhole = try head.take(bytes[place], role: role, allowsCompression: inflater != nil)
                place += 1
                if isWhole { try beginFrame() }
            }
            if rest == 0, let event = try endFrame() { return event }
        }
        return nil
    }

    private mutating func beginFrame() throws(FrameViolation) {
        rest = head.length
        guard !head.opcode.isControl else { return }
        try beginFragment()
        fragments += 1
        guard fragments <= fragmentLimit else { throw .tooLarge("A message has more than \(fragmentLimit) fragments.") }
        // What is compressed is counted as it is inflated.
        guard isCompressed || head.length <= messageLimit - message.count else { throw tooLarge }
    }

    private mutating func beginFragment() throws(FrameViolation) {
        guard head.opcode != .continuation else {
            guard kind != nil else { throw .malformed("A fragment continues no message.") }
            return
        }
        guard kind == nil else { throw .malformed("A message begins within another one.") }
        kind = head.opcode
        isCompressed = head.isCompressed
    }

    private var tooLarge: FrameViolation { .tooLarge("A message is larger than \(messageLimit) bytes.") }

    // MARK: Payloads

    private mutating func take(_ bytes: ArraySlice<UInt8>, isMaskedFrom offset: Int) throws(FrameViolation) {
        guard let mask = head.mask else { return try take(bytes) }
        var plain = Array(bytes)
        Masking.apply(mask, to: &plain, from: offset)
        try take(plain[...])
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) throws(FrameViolation) {
        if head.opcode.isControl {
            control += bytes
        } else if isCompressed {
            try inflate(bytes)
        } else {
            try append(bytes, before: rest ?? 0)
        }
    }

    private mutating func inflate(_ bytes: ArraySlice<UInt8>) throws(FrameViolation) {
        guard let inflater else { return }
        var plain: [UInt8] = []
        switch inflater.inflate(bytes, into: &plain, limit: messageLimit - message.count) {
        case .done: try append(plain[...], before: 0)
        case .tooLarge: throw tooLarge
        case .corrupt: throw FrameViolation(code: 1007, message: "A compressed message can't be inflated.")
        }
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>, before rest: Int) throws(FrameViolation) {
        guard kind != .text || bytes.withUnsafeBytes({ text.take($0) }) else { throw .notText }
        guard message.append(bytes, before: rest) else { throw .tooLarge("There is no memory for a message.") }
    }

    /// What is whole by the end of a frame; nil: it isn't the last one of its message.
    private mutating func endFrame() throws(FrameViolation) -> Event? {
        let opcode = head.opcode
        let isFinal = head.isFinal
        head = FrameHead()
        rest = nil
        guard opcode.isControl else { return isFinal ? try endMessage() : nil }
        let payload = control
        control = []
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        default:
            let close = try CloseFrame(payload: payload)
            hasClosed = true
            return .close(close)
        }
    }

    private mutating func endMessage() throws(FrameViolation) -> Event {
        if isCompressed { try inflate(Inflater.tail[...]) }
        guard kind != .text || text.isAtBoundary else { throw .notText }
        defer {
            kind = nil
            fragments = 0
            text = UTF8Check()
        }
        return kind == .text ? .text(message.takeText()) : .binary(message.take())
    }
}
