internal import MidstreamCore
internal import WebSocketFrames

/// The server's side of a socket (RFC 6455), in a test: it says what it likes, faults included.
///
/// ```swift
/// server.respond { _ in
///     .webSocket { socket in
///         try await socket.send("hello")
///         while case .text(let text)? = try await socket.next() { try await socket.send(text.uppercased()) }
///     }
/// }
/// ```
///
/// Nothing is answered by itself, neither a ping nor a close frame: ``echo()`` does that. When the closure that has it returns or throws,
/// nothing more is sent.
public actor MockWebSocket {
    /// What has come.
    public enum Event: Sendable, Hashable {
        /// A text.
        case text(String)
        /// Bytes.
        case binary([UInt8])
        /// A ping.
        case ping([UInt8])
        /// A pong.
        case pong([UInt8])
        /// A close frame; without a code where it has none.
        case close(Int?, String)
    }

    /// A frame as it goes on the wire, right or wrong.
    public struct Frame: Sendable, Hashable {
        /// 0 for a continuation, 1 text, 2 bytes, 8 close, 9 ping, 10 pong; the lower four bits count.
        public var opcode: UInt8
        /// What it carries, as it is.
        public var payload: [UInt8]
        /// Whether it is its message's last one; true by default.
        public var isFinal: Bool
        /// The three reserved bits, the highest of them for compressed messages; 0 by default.
        public var reservedBits: UInt8
        /// Whether it is masked, as no server's may be; false by default.
        public var isMasked: Bool
        /// How many of its bytes are sent; nil, the default: all.
        public var cut: Int?

        /// Makes a frame; every parameter's default is the property's.
        public init(
            opcode: UInt8, payload: [UInt8] = [], isFinal: Bool = true, reservedBits: UInt8 = 0, isMasked: Bool = false,
            cut: Int? = nil
        ) {
            self.opcode = opcode
            self.payload = payload
            self.isFinal = isFinal
            self.reservedBits = reservedBits
            self.isMasked = isMasked
            self.cut = cut
        }

        var bytes: [UInt8] {
            var bytes = FrameWriter.frame(.binary, payload, mask: isMasked ? 0x0102_0304 : nil)
            bytes[0] = opcode & 0x0F | (isFinal ? 0x80 : 0) | (reservedBits & 7) << 4
            return Array(bytes.prefix(cut ?? .max))
        }
    }

    private let channel: any ByteChannel
    private let deflater: Deflater?
    private var reader: MessageReader
    private var events: [Event] = []

    init(_ channel: any ByteChannel, _ deflate: DeflateParameters?) {
        self.channel = channel
        deflater = deflate?.deflater(for: .server)
        reader = MessageReader(role: .server, messageLimit: 64 << 20, inflater: deflate?.inflater(for: .server))
    }

    /// What comes next; nil at the end of the connection. One task at a time.
    ///
    /// - Throws: An error when the client doesn't keep to the protocol, and when the connection is lost.
    public func next() async throws -> Event? {
        while events.isEmpty {
            guard let bytes = try await channel.read() else { return nil }
            try reader.take(bytes) { events.append(Event($0)) }
        }
        return events.removeFirst()
    }

    /// Sends a text, compressed where that was agreed on.
    public func send(_ text: String) async throws { try await send(.text, Array(text.utf8)) }

    /// Sends bytes, compressed where that was agreed on.
    public func send(_ bytes: [UInt8]) async throws { try await send(.binary, bytes) }

    private func send(_ opcode: Opcode, _ payload: [UInt8]) async throws {
        // Later it would be missing in the context of the next ones.
        try Task.checkCancellation()
        // What refers to an earlier message mustn't overtake it: writing begins without leaving the actor.
        let compressed = deflater?.deflate(payload)
        try await channel.write(FrameWriter.frame(opcode, compressed ?? payload, isCompressed: compressed != nil))
    }

    /// Sends a message that gets this large by inflating; as garbage where compression wasn't agreed on.
    public func sendBomb(inflatingTo count: Int) async throws {
        let payload = Deflater(windowBits: 15, keepsContext: false)?.deflate([UInt8](repeating: 0, count: count))
        try await channel.write(FrameWriter.frame(.binary, payload ?? [], isCompressed: true))
    }

    /// Pings the client, with 125 bytes at most.
    public func ping(_ payload: [UInt8] = []) async throws { try await channel.write(FrameWriter.frame(.ping, payload)) }

    /// Sends a pong, with 125 bytes at most.
    public func pong(_ payload: [UInt8] = []) async throws { try await channel.write(FrameWriter.frame(.pong, payload)) }

    /// Sends a close frame, with any code, or with none.
    public func close(_ code: Int? = 1000, _ reason: String = "") async throws {
        let frame = CloseFrame(code: code.map { UInt16(clamping: $0) }, reason: reason)
        try await channel.write(FrameWriter.frame(.close, frame.payload))
    }

    /// Sends a frame as it is.
    public func send(_ frame: Frame) async throws { try await channel.write(frame.bytes) }

    /// Ends the connection without a word.
    public func disconnect() { channel.close() }

    /// Sends every message back, and answers pings and the close frame, until that or the end of the connection.
    public func echo() async throws {
        while let event = try await next() {
            switch event {
            case .text(let text): try await send(text)
            case .binary(let bytes): try await send(bytes)
            case .ping(let payload): try await pong(payload)
            case .pong: break
            case .close(let code, _): return try await close(code)
            }
        }
    }
}

extension MockWebSocket.Event {
    fileprivate init(_ event: MessageReader.Event) {
        switch event {
        case .text(let text): self = .text(text)
        case .binary(let bytes): self = .binary(bytes)
        case .ping(let payload): self = .ping(payload)
        case .pong(let payload): self = .pong(payload)
        case .close(let frame): self = .close(frame.code.map { Int($0) }, frame.reason)
        }
    }
}
