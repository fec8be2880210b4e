public import Foundation
internal import Interception
public import MidstreamCore
internal import WebSocketFrames

/// A socket that is open (RFC 6455): messages in both directions over one connection.
///
/// ```swift
/// let socket = try await client.webSocket("feed").connect()
/// try await socket.send("hello")
/// for try await message in socket { print(message) }
/// ```
///
/// It is read as a sequence, by one task. Sending, pinging and closing may be done by any task: messages go out in the order in which they
/// are given, each as a whole. Pings of the server are answered by themselves. At most 256 KiB wait for the reader, and one message that goes
/// beyond; then nothing is taken from the connection, pongs and a close frame included, until it has caught up.
///
/// A socket that is released is closed at once. ``close(_:_:)`` tells the server why.
public final class WebSocket: Sendable {
    /// The response by which the server agreed, 101, with its trace. Its body is the socket's.
    public let response: HTTPResponse
    /// The protocol that the server has chosen of those offered; nil: none.
    public let subprotocol: String?
    /// Whether messages may be compressed.
    public let isCompressing: Bool
    private let client: HTTPClient
    let connection: Connection
    private let isRead = Locked(false)

    init(_ response: HTTPResponse, _ options: WebSocketOptions, client: HTTPClient) throws {
        let agreement = try UpgradeRequest.agreement(response)
        guard let channel = response.channel else {
            throw HTTPError(
                .unsupported, "The transport has no sockets; WireTransport has, and URLSessionTransport on Apple's platforms.",
                request: response.request, response: response, phase: .answered)
        }
        self.response = response
        self.client = client
        subprotocol = agreement.subprotocol
        isCompressing = agreement.deflate != nil
        connection = Connection(
            channel, of: response.request, agreement.deflate, options, on: client.stopwatch.restarted())
        connection.start()
    }

    deinit { connection.lose(nil) }

    /// What has passed over the socket so far.
    public var metrics: WebSocketMetrics { connection.state.withLock { $0.metrics } }

    /// How it has ended; nil while it hasn't.
    public var closure: WebSocketClosure? {
        switch connection.state.withLock({ $0.end }) {
        case .closed(let closure): closure
        case .failed(let error): error.underlying as? WebSocketClosure
        case nil: nil
        }
    }

    /// What broke the connection after this side had begun to close it, which its reader isn't told.
    package var breakage: HTTPError? { connection.state.withLock { $0.breakage } }

    // MARK: Sending

    /// Sends a text; returns when at most 64 KiB of what was sent wait to leave, so at the pace of the server.
    ///
    /// - Throws: ``HTTPError/Code/connectionLost`` when the socket has ended or is being closed, with ``WebSocketClosure`` where there is one;
    ///   `CancellationError` when the task is cancelled: nothing of the message has been sent then, or the socket has ended or is being closed.
    public func send(_ text: String) async throws { try await connection.send(.text, Array(text.utf8)) }

    /// Sends bytes; see ``send(_:)-(String)``.
    public func send(_ bytes: [UInt8]) async throws { try await connection.send(.binary, bytes) }

    /// Sends bytes; see ``send(_:)-(String)``.
    public func send(_ bytes: Data) async throws { try await connection.send(.binary, Array(bytes)) }

    /// Sends a message; see ``send(_:)-(String)``.
    public func send(_ message: WebSocketMessage) async throws { try await connection.send(message.kind, message.bytes) }

    /// Sends a value as a text, by the client's encoder; see ``send(_:)-(String)``.
    ///
    /// - Throws: What the encoder throws, too; nothing has been sent then.
    public func send(json value: some Encodable & Sendable) async throws {
        try await connection.send(.text, Array(client.configuration.encoder.encode(value)))
    }

    /// Sends one message in pieces as they come, each in a frame of its own (RFC 6455 §5.4), uncompressed; nothing is held. Other messages
    /// wait meanwhile.
    ///
    /// - Throws: As ``send(_:)-(String)`` does; ``HTTPError/Code/invalidRequest`` when the pieces of a text aren't UTF-8; what the sequence
    ///   throws. Unless nothing was sent before, the socket has ended then, or is being closed, since nothing else can follow half a message.
    public func send<Chunks: AsyncSequence>(
        _ kind: WebSocketMessage.Kind, chunks: Chunks
    ) async throws where Chunks.Element == [UInt8] {
        try await connection.send(kind, chunks: chunks)
    }

    /// Pings the server.
    ///
    /// - Returns: How long its answer took, by the client's clock.
    /// - Throws: ``HTTPError/Code/timeout`` after ``WebSocketOptions/pongTimeout``, which leaves the socket open;
    ///   ``HTTPError/Code/connectionLost``; `CancellationError`.
    @discardableResult
    public func ping() async throws -> Duration { try await connection.ping() }

    /// Closes the socket: tells the server, and waits up to 5 s for its answer. What comes until then can still be read, as far as 256 KiB go.
    /// Harmless when repeated, and after the end.
    ///
    /// - Parameters:
    ///   - code: Why; ``WebSocketClosure/Code/normal`` by default. 1005 and others that only say how a connection ended can't be sent.
    ///   - reason: In words; what exceeds 123 bytes of UTF-8 is cut.
    /// - Throws: ``HTTPError/Code/invalidRequest`` for a code that can't be sent; `CancellationError`: the socket has ended all the same.
    public func close(_ code: WebSocketClosure.Code = .normal, _ reason: String = "") async throws {
        try await connection.close(CloseFrame(sending: code, reason))
    }
}

extension WebSocket: AsyncSequence {
    /// Reads the messages.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        /// Nil: somebody else reads.
        fileprivate let socket: WebSocket?

        /// The next message; nil once the socket was closed, by this side or by the server with 1000 or 1001.
        ///
        /// - Throws: ``HTTPError/Code/connectionLost`` with ``WebSocketClosure`` for any other end; ``HTTPError/Code/bodyNotReplayable`` when
        ///   the socket is or was read by another iterator, or another task waits for a message; `CancellationError`, after which reading may
        ///   go on.
        public mutating func next() async throws -> WebSocketMessage? {
            guard let socket else { throw Self.isReadAlready }
            return try await socket.connection.next()
        }

        /// A function of its own, so that the frame of a waiting reader is small.
        static var isReadAlready: HTTPError {
            @inline(never) get {
                HTTPError(.bodyNotReplayable, "The socket can be read only once, and it is being read.", phase: .notSent)
            }
        }
    }

    /// Begins to read; a second reader gets an error.
    public func makeAsyncIterator() -> AsyncIterator {
        let isFirst = isRead.withLock { isRead in
            defer { isRead = true }
            return !isRead
        }
        return AsyncIterator(socket: isFirst ? self : nil)
    }

    /// The messages as values, decoded one by one.
    ///
    /// - Parameters:
    ///   - type: That of each message.
    ///   - decoder: nil, the default: the client's.
    public func values<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> WebSocketValues<Value> {
        WebSocketValues(messages: self, decoder: decoder ?? client.configuration.decoder)
    }
}

/// The messages of a socket as values.
public struct WebSocketValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    fileprivate let messages: WebSocket
    fileprivate let decoder: any BodyDecoder

    /// Reads the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var messages: WebSocket.AsyncIterator
        fileprivate let decoder: any BodyDecoder

        /// The next one; nil once the socket was closed.
        ///
        /// - Throws: ``HTTPError/Code/decoding`` for a message that is no such value, after which reading may go on; what the socket's sequence
        ///   throws.
        public mutating func next() async throws -> Value? {
            guard let message = try await messages.next() else { return nil }
            return try JSONDecoding(of: nil, named: "The message").decode(Value.self, from: Data(message.bytes), by: decoder)
        }
    }

    /// Begins to read the socket.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(messages: messages.makeAsyncIterator(), decoder: decoder)
    }
}

extension WebSocket: CustomStringConvertible, CustomReflectable {
    /// The URL without its secrets, and whether it is open.
    public var description: String { "\(response.request.redactedURL), \(closure.map { "closed: \($0)" } ?? "open")" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["socket": description]) }
}
