internal import Interception
internal import MidstreamCore
internal import WebSocketFrames

/// The connection of a 101 response over a socket that has no bytes: what is written is taken apart into messages, and what is received put
/// into frames, for whoever reads and writes frames by himself.
///
/// Fragments are one message here, sent when its last one comes. Pings of the other side are answered by the system and don't show; those of
/// this side carry nothing over the wire, and their own payload comes back.
final class FramedSocket: Sendable, ByteWriter {
    private struct State {
        /// For the reader: one message at most, and what answers control frames.
        var frames: [[UInt8]] = []
        /// Waits for frames.
        var reader: Suspension<Void>?
        /// Waits until they are taken.
        var receiver: Suspension<Void>?
        /// What comes after the frames: the end, or why there is none.
        var end: Result<Void, HTTPError>?
        /// The close frame that was sent.
        var closing: CloseFrame?
        var isBegun = false
    }

    /// Takes what is written, which one task does at a time.
    private final class Written {
        var reader = MessageReader(role: .server, messageLimit: .max, fragmentLimit: .max)
    }

    private let socket: any MessageSocket
    private let state = Locked(State())
    private let written = Locked(Written())

    init(_ socket: any MessageSocket) { self.socket = socket }

    // MARK: Writing

    nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
        if case .failure(let error) = state.withLock({ $0.end }) { throw error }
        for event in try events(of: bytes) {
            switch event {
            case .text(let text): try await send(.text(text))
            case .binary(let bytes): try await send(.binary(bytes))
            case .ping(let payload): ping(payload)
            case .pong: break
            case .close(let frame):
                state.withLock { $0.closing = frame }
                socket.close(frame)
            }
        }
    }

    private func events(of bytes: [UInt8]) throws -> [MessageReader.Event] {
        try written.withLock { written in
            var events: [MessageReader.Event] = []
            do throws(FrameViolation) {
                try written.reader.take(bytes) { events.append($0) }
            } catch {
                throw HTTPError(.invalidRequest, error.message, phase: .answered)
            }
            return events
        }
    }

    /// A failure doesn't end the reading: what the system has received before is still read, and may say why.
    nonisolated(nonsending) private func send(_ message: SocketMessage) async throws {
        do { try await socket.send(message) } catch let error as CancellationError { throw error } catch {
            throw Self.lost(error)
        }
    }

    private func ping(_ payload: [UInt8]) {
        Task.detached { [self] in
            guard (try? await socket.ping()) != nil else { return }
            append(FrameWriter.frame(.pong, payload))
        }
    }

    // MARK: Reading

    /// Nil at the end.
    nonisolated(nonsending) func next() async throws -> [UInt8]? {
        begin()
        while true {
            if Task.isCancelled {
                close()
                throw CancellationError()
            }
            let reader = Suspension<Void>()
            let (frame, receiver, end) = state.withLock { state -> ([UInt8]?, Suspension<Void>?, Result<Void, HTTPError>?) in
                guard !state.frames.isEmpty else {
                    if state.end == nil { state.reader = reader }
                    return (nil, nil, state.end)
                }
                let frame = state.frames.removeFirst()
                guard state.frames.isEmpty else { return (frame, nil, nil) }
                defer { state.receiver = nil }
                return (frame, state.receiver, nil)
            }
            receiver?.resume()
            if let frame { return frame }
            if let end {
                try end.get()
                return nil
            }
            _ = await reader.wait()
        }
    }

    var isSpent: Bool { state.withLock { $0.isBegun } }

    private func begin() {
        let isFirst = state.withLock { state in
            defer { state.isBegun = true }
            return !state.isBegun
        }
        // With the task-local values of who reads it first it would hold a call that is over.
        if isFirst { Task.detached { [self] in await receive() } }
    }

    /// One after the other, each when the last one was taken: what else comes waits in the system, and that has the sender wait.
    private func receive() async {
        do {
            while true {
                switch try await socket.receive() {
                case .text(let text): append(FrameWriter.frame(.text, Array(text.utf8)))
                case .binary(let bytes): append(FrameWriter.frame(.binary, bytes))
                }
                await waitForRoom()
            }
        } catch {
            // The answer to this side's close frame, if there was any, isn't told apart from the end.
            guard let frame = state.withLock({ $0.closing }) ?? socket.closure else { return end(.failure(Self.lost(error))) }
            append(FrameWriter.frame(.close, frame.payload))
            end(.success(()))
        }
    }

    private func waitForRoom() async {
        let receiver = state.withLock { state -> Suspension<Void>? in
            guard !state.frames.isEmpty, state.end == nil else { return nil }
            let receiver = Suspension<Void>()
            state.receiver = receiver
            return receiver
        }
        _ = await receiver?.wait()
    }

    private func append(_ frame: [UInt8]) {
        let reader = state.withLock { state -> Suspension<Void>? in
            guard state.end == nil else { return nil }
            state.frames.append(frame)
            return state.reader.take()
        }
        reader?.resume()
    }

    // MARK: Ends

    func close() {
        end(.failure(HTTPError(.connectionLost, "The socket was closed.", phase: .answered)))
        socket.abandon()
    }

    /// The first reason counts.
    private func end(_ outcome: Result<Void, HTTPError>) {
        let (reader, receiver) = state.withLock { state -> (Suspension<Void>?, Suspension<Void>?) in
            guard state.end == nil else { return (nil, nil) }
            state.end = outcome
            defer { (state.reader, state.receiver) = (nil, nil) }
            return (state.reader, state.receiver)
        }
        reader?.resume()
        receiver?.resume()
    }

    private static func lost(_ error: any Error) -> HTTPError {
        HTTPError(.connectionLost, "The socket has ended.", underlying: error, phase: .answered)
    }
}

/// What is read of a framed socket; its release ends that.
final class FramedBody: IncomingBody {
    private let socket: FramedSocket

    init(_ socket: FramedSocket) { self.socket = socket }

    deinit { socket.close() }

    nonisolated(nonsending) func next() async throws -> [UInt8]? { try await socket.next() }
    func close() { socket.close() }
    var isSpent: Bool { socket.isSpent }
    var trailers: HTTPHeaders? { nil }
    var metrics: TransportMetrics? { nil }
}

extension HTTPRequest {
    /// The request as the system is given it, which makes what belongs to the upgrade itself: without compression, which couldn't be told of.
    func withoutUpgrade() -> HTTPRequest {
        var request = self
        for name in ["Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions"] {
            request.headers.remove(HTTPHeaders.Name(name))
        }
        return request
    }

    /// The 101 response over a socket that the system has opened. The system has checked the server's answer to the key of its own; what is here is
    /// the answer to the request's. The fields are the server's, as far as they are told, and the protocol is the one that it has chosen.
    func switchingProtocols(_ fields: HTTPHeaders, subprotocol: String?, over socket: any MessageSocket) -> HTTPResponse {
        var fields = fields
        fields["Upgrade"] = "websocket"
        fields["Connection"] = "Upgrade"
        fields["Sec-WebSocket-Accept"] = headers["Sec-WebSocket-Key"].map { HandshakeKey.answer(to: $0) }
        fields["Sec-WebSocket-Protocol"] = subprotocol.flatMap { $0.isEmpty ? nil : $0 }
        fields.remove("Sec-WebSocket-Extensions")
        let framed = FramedSocket(socket)
        var response = HTTPResponse(
            status: HTTPStatus(101), headers: fields, body: .incoming(FramedBody(framed), length: nil), request: self)
        response.writer = framed
        return response
    }
}
