import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Bodies across exchanges")
struct ExchangeBodyTests {
    /// Calls next once more, whatever the first answer was.
    private let twice = ClosureHTTPInterceptor { request, next in
        _ = try await next(request)
        return try await next(request)
    }

    @Test("stream() hands the body over while it arrives")
    func streamed() async throws {
        let arriving = ArrivingBody()
        let stub = StubTransport(status: .ok, body: .incoming(arriving))
        let response = try await HTTPClient(transport: stub).stream(HTTPRequest("https://h"))
        #expect(response.body.bytes == nil && response.data.isEmpty && !arriving.isSpent && arriving.closings == 0)
        #expect(try await response.body.collect() == Array("hello".utf8))
    }

    @Test("C3 the first response is closed when a second one is asked for")
    func closedForSecond() async throws {
        let (first, second) = (ArrivingBody(), ArrivingBody())
        let stub = StubTransport(sequence: [.respond(.ok, body: .incoming(first)), .respond(.ok, body: .incoming(second))])
        let response = try await HTTPClient(transport: stub) { twice }.stream(HTTPRequest("https://h"))
        #expect(first.closings == 1 && second.closings == 0)
        #expect(try await response.body.collect() == Array("hello".utf8))
    }

    @Test("the first response is closed before the second request goes out")
    func closedBefore() async throws {
        let first = ArrivingBody()
        let isFirst = Locked(true)
        let stub = StubTransport { request in
            let answersFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if answersFirst { return HTTPResponse(status: .ok, body: .incoming(first), request: request) }
            #expect(first.closings == 1)
            return HTTPResponse(status: .ok, request: request)
        }
        _ = try await HTTPClient(transport: stub) { twice }.stream(HTTPRequest("https://h"))
        #expect(stub.requests.count == 2)
    }

    @Test("a trace that is kept doesn't keep the response's body open")
    func keptTrace() async throws {
        weak var body: ArrivingBody?
        let trace: Trace
        do {
            let arriving = ArrivingBody()
            body = arriving
            let next = Locked<ArrivingBody?>(arriving)
            let stub = StubTransport { request in
                let arriving = next.withLock { next in
                    defer { next = nil }
                    return next
                }
                return HTTPResponse(status: .ok, body: arriving.map { .incoming($0) } ?? .empty, request: request)
            }
            trace = try await HTTPClient(transport: stub).stream(HTTPRequest("https://h")).trace
        }
        #expect(body == nil)
        #expect(trace.spans.count == 1)
    }

    private func consuming(_ reply: HTTPStatus = .ok) -> StubTransport {
        StubTransport { request in
            _ = try await request.body.collect()
            return HTTPResponse(status: reply, request: request)
        }
    }

    @Test("C3 a body that can be read once makes the second send fail before anything is sent")
    func onceTwice() async {
        let stub = consuming()
        let client = HTTPClient(transport: stub) { twice }
        let error = await httpError { try await client.send(HTTPRequest(.post, "https://h", body: .once(chunks("a")))) }
        #expect(error?.code == .bodyNotReplayable && error?.progress == .notSent)
        #expect(stub.requests.count == 1)
    }

    @Test("a body that can be read once and wasn't can still be sent")
    func onceUnread() async throws {
        let read = Steps()
        let stub = StubTransport { request in
            if request.headers["X-Try"] == nil { throw HTTPError(.connection, progress: .notSent) }
            read.note(String(decoding: try await request.body.collect(), as: UTF8.self))
            return HTTPResponse(status: .ok, request: request)
        }
        let client = HTTPClient(transport: stub) {
            ClosureHTTPInterceptor { request, next in
                do { return try await next(request) } catch {
                    var again = request
                    again.headers["X-Try"] = "2"
                    return try await next(again)
                }
            }
        }
        _ = try await client.send(HTTPRequest(.post, "https://h", body: .once(chunks("a", "b"))))
        #expect(read.all == ["ab"])
    }

    @Test("replayable bodies are sent anew each time")
    func replayable() async throws {
        for body in [HTTPBody.text("ab"), .stream { chunks("a", "b") }] {
            let read = Steps()
            let stub = StubTransport { request in
                read.note(String(decoding: try await request.body.collect(), as: UTF8.self))
                return HTTPResponse(status: .ok, request: request)
            }
            _ = try await HTTPClient(transport: stub) { twice }.send(HTTPRequest(.post, "https://h", body: body))
            #expect(read.all == ["ab", "ab"])
        }
    }
}
