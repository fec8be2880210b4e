import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Bodies across exchanges", .leavesNothing)
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
        let response = try await testClient(transport: stub).stream(HTTPRequest("https://h"))
        #expect(response.body.bytes == nil && response.data.isEmpty && !arriving.isSpent && arriving.closings == 0)
        #expect(try await response.body.collect() == Array("hello".utf8))
    }

    @Test("C3 two responses of one call can be open at once, and whoever gives one up closes it", arguments: [false, true])
    func twoAtOnce(isBuffered: Bool) async throws {
        let (first, second) = (ArrivingBody(), ArrivingBody())
        let stub = StubTransport(sequence: [.respond(.ok, body: .incoming(first)), .respond(.ok, body: .incoming(second))])
        let client = testClient(transport: stub) {
            ClosureHTTPInterceptor { request, next in
                let responses = [try await next(request), try await next(request)]
                if !isBuffered { #expect(first.closings == 0 && second.closings == 0) }
                #expect(try await responses[0].body.collect() == Array("hello".utf8))
                return responses[1]
            }
        }
        let request = HTTPRequest("https://h")
        let response = isBuffered ? try await client.send(request) : try await client.stream(request)
        #expect(try await response.body.collect() == Array("hello".utf8))
    }

    @Test("a retry gives up what its attempt has opened, and nothing of its siblings")
    func branches() async throws {
        let bodies = [ArrivingBody(), ArrivingBody(), ArrivingBody()]
        let stub = StubTransport(
            sequence: [.respond(.ok, body: .incoming(bodies[0])), .respond(503, body: .incoming(bodies[1]))]
                + [.respond(.ok, body: .incoming(bodies[2]))])
        var configuration = HTTPClient.Configuration()
        configuration.validators = [DefaultValidator(retriableStatus: [503: .immediate])]
        configuration.maxRetries = 1
        let client = testClient(configuration: configuration, transport: stub) {
            ClosureHTTPInterceptor(stage: .call) { request, next in
                let first = try await next(request)
                let second = try await next(request)
                #expect(bodies.map(\.closings) == [0, 2, 0])
                first.body.close()
                return second
            }
        }
        let response = try await client.stream(HTTPRequest("https://h"))
        #expect(try await response.body.collect() == Array("hello".utf8))
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
            trace = try await testClient(transport: stub).stream(HTTPRequest("https://h")).trace
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
        let client = testClient(transport: stub) { twice }
        let error = await httpError { try await client.send(HTTPRequest(.post, "https://h", body: .once(chunks("a")))) }
        #expect(error?.code == .bodyNotReplayable && error?.phase == .maybeProcessed)
        #expect(stub.requests.count == 1)
    }

    @Test("a body that can be read once and wasn't can still be sent")
    func onceUnread() async throws {
        let read = Steps()
        let stub = StubTransport { request in
            if request.headers["X-Try"] == nil { throw HTTPError(.connection, phase: .notSent) }
            read.note(String(decoding: try await request.body.collect(), as: UTF8.self))
            return HTTPResponse(status: .ok, request: request)
        }
        let client = testClient(transport: stub) {
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
            _ = try await testClient(transport: stub) { twice }.send(HTTPRequest(.post, "https://h", body: body))
            #expect(read.all == ["ab", "ab"])
        }
    }
}
