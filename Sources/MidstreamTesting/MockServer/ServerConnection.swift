internal import Interception
internal import LoopbackServer
internal import MidstreamCore

/// Serves one connection: reads a request, answers it, and so on until one side ends it.
final class ServerConnection: Sendable {
    let socket: Socket
    let number: Int
    let server: ServerState

    init(_ socket: Socket, number: Int, server: ServerState) {
        self.socket = socket
        self.number = number
        self.server = server
    }

    /// Runs on the connection's thread until the connection is to be closed.
    func serve() {
        var reader = RequestReader(socket, maximumBody: server.limits.maximumBody, keptBody: server.limits.keptBody)
        do {
            var count = 0
            repeat { count += 1 } while try serveRequest(count, from: &reader) == .kept
            socket.finish()
        } catch let rejection as Rejection {
            let response = MockServer.Response(
                status: rejection.status, headers: ["Connection": "close"], body: .text(rejection.text + "\n"))
            var writer = ResponseWriter(response, to: nil, on: self)
            _ = try? writer.write()
            socket.finish()
        } catch {
            // The client has left, the server is shutting down, or a fault has closed the connection: nothing is left to say.
        }
    }

    private func serveRequest(_ count: Int, from reader: inout RequestReader) throws -> ConnectionFate {
        guard let head = try reader.head() else { return .over }
        var request = RecordedRequest(
            method: head.method, target: head.target, version: head.version, headers: head.headers, body: [],
            bodyLength: 0, trailers: nil, connection: number, requestOnConnection: count)

        if let response = server.takeEarlyResponse(to: request) {
            var response = response
            // Whether the body follows a final answer to such a request can't be told from what comes next.
            if head.expectsContinue { response.headers[.connection] = "close" }
            guard try write(response, to: head) == .kept else { return .over }
            _ = try reader.body(head.framing, isKept: false)
            return .kept
        }

        if head.expectsContinue { try send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        let body = try reader.body(head.framing, isKept: true)
        request.body = body.bytes
        request.bodyLength = body.length
        request.trailers = body.trailers
        return try write(response(to: request), to: head)
    }

    private func write(_ response: MockServer.Response, to head: RequestHead) throws -> ConnectionFate {
        if let script = response.socket { return try serve(script, response, to: head) }
        var writer = ResponseWriter(response, to: head, on: self)
        return try writer.write()
    }

    private func response(to request: RecordedRequest) throws -> MockServer.Response {
        let (response, handler) = server.answer(to: request)
        if let response { return response }
        guard let handler else {
            return .init(
                status: .notFound,
                body: .text(
                    "No response is scripted for \(request.method) \(request.target). Use enqueue(_:) or respond(_:).\n"))
        }
        do {
            return try wait { try await handler(request) }
        } catch let ended as ConnectionEnded {
            throw ended
        } catch {
            return .init(status: .internalServerError, body: .text("The server's closure threw an error: \(error)\n"))
        }
    }

    /// Runs asynchronous work and waits for it; throws ``ConnectionEnded`` and cancels the work when the client leaves or the
    /// connection is interrupted.
    func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = AsyncOutcome<Value>()
        let task = Task.detached { outcome.finish(await .of(work)) }
        do {
            return try outcome.wait { socket.isOver }
        } catch {
            task.cancel()
            throw error
        }
    }

    /// Waits by the server's clock.
    func sleep(_ duration: Duration) throws {
        guard duration > .zero else { return }
        let clock = server.clock
        try wait { try await clock.sleep(for: duration) }
    }

    func send(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try socket.send($0) } }

    func send(_ bytes: ArraySlice<UInt8>) throws { try bytes.withUnsafeBytes { try socket.send($0) } }

    /// Is silent until the client leaves or the connection is interrupted. What the client sends meanwhile is thrown away.
    func stall() throws -> Never {
        try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { scratch in
            while try socket.receive(into: scratch) > 0 {}
        }
        throw ConnectionEnded()
    }
}

/// Whether a connection can serve another request.
enum ConnectionFate {
    case kept
    case over
    /// It has become a socket.
    case upgraded
}
