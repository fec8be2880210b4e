import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Cancellation, and responses that are given up", .leavesNothing)
struct EndedEarlyTests {
    private let bench = ArbiterBench()

    /// Cancels a call once so many tasks sleep on the clock; it has to end at once, and nothing more may be sent.
    private func cancels(
        _ client: HTTPClient, _ stub: StubTransport, sleepers: Int = 1, on clock: TestClock? = nil, sent: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let call = Task { try await client.send(HTTPRequest("/")) }
        await (clock ?? bench.clock).waitForSleepers(sleepers)
        call.cancel()
        await #expect(throws: CancellationError.self, sourceLocation: sourceLocation) { try await call.value }
        bench.clock.advance(by: .seconds(100))
        clock?.advance(by: .seconds(100))
        #expect(stub.requests.count == sent, sourceLocation: sourceLocation)
    }

    @Test("E11 cancelling during a backoff")
    func backoff() async {
        let stub = StubTransport(status: 503)
        await cancels(bench.client(stub, maxRetries: 3), stub)
    }

    @Test("E11 cancelling during the wait after an alternate")
    func delayAfterAlternate() async {
        let stub = StubTransport { HTTPResponse(status: $0.urlText.hasSuffix("login") ? 200 : 401, request: $0) }
        let validator = CallbackValidator { response, _ in .retry(.after(HTTPRequest("/login"), delay: .seconds(1))) }
        await cancels(bench.client(stub, validators: [validator]), stub, sent: 2)
    }

    @Test("E11 cancelling during an alternate request, which goes on for the others")
    func alternate() async throws {
        let gate = TestClock()
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/login") {
                try await gate.sleep(for: .seconds(1))
                return HTTPResponse(status: .ok, request: request)
            }
            return HTTPResponse(status: request.attempt == 1 ? 401 : 200, request: request)
        }
        let client = bench.client(stub, validators: [AlternateRequestValidator { _, _ in HTTPRequest("/login") }])
        await cancels(client, stub, on: gate, sent: 2)
    }

    @Test("E11 cancelling while then runs, whatever it makes of it", arguments: [true, false])
    func then(throwsItsOwn: Bool) async {
        let stub = StubTransport { HTTPResponse(status: $0.urlText.hasSuffix("/login") ? 200 : 401, request: $0) }
        let clock = bench.clock
        let client = bench.client(
            stub,
            validators: [
                AlternateRequestValidator { _, _ in
                    HTTPRequest("/login")
                } then: { _, _ in
                    do { try await clock.sleep(for: .seconds(1)) } catch { if throwsItsOwn { throw Failure() } }
                }
            ])
        await cancels(client, stub, sent: 2)
    }

    @Test("E11 cancelling while the work of afterTask runs, whatever it makes of it", arguments: [true, false])
    func work(throwsItsOwn: Bool) async {
        let stub = StubTransport(status: 401)
        let clock = bench.clock
        let steps = Steps()
        let client = bench.client(
            stub, maxRetries: 3,
            validators: [
                AlternateTaskValidator { _ in
                    do { try await clock.sleep(for: .seconds(1)) } catch { if throwsItsOwn { throw Failure() } }
                } onError: { _ in
                    steps.note("onError")
                }
            ])
        await cancels(client, stub)
        #expect(steps.all.isEmpty)
    }

    @Test("E11 cancelling while onError runs")
    func onError() async {
        let stub = StubTransport(status: 401)
        let clock = bench.clock
        let client = bench.client(
            stub, maxRetries: 3,
            validators: [
                AlternateTaskValidator { _ in
                    throw Failure()
                } onError: { _ in
                    try? await clock.sleep(for: .seconds(1))
                }
            ])
        await cancels(client, stub)
    }

    @Test("E11 cancelling while the origin is left alone")
    func pacing() async {
        let stub = StubTransport(status: 429, headers: [.retryAfter: "9"])
        let client = bench.client(stub) { $0.sharesRetryAfter = true }
        _ = await httpError { try await client.send(HTTPRequest("/")) }
        await cancels(client, stub)
    }

    @Test("E12 the response that is given up for a retry is closed before the wait")
    func givenUp() async throws {
        let bodies = [ArrivingBody(), ArrivingBody()]
        let stub = StubTransport { request in
            HTTPResponse(
                status: request.attempt == 1 ? 503 : 200, body: .incoming(bodies[request.attempt - 1]), request: request)
        }
        let client = bench.client(stub, maxRetries: 1)
        let call = Task { try await client.stream(HTTPRequest("/")) }
        await bench.clock.waitForSleepers(1)
        #expect(bodies[0].closings > 0)
        bench.clock.advance(by: .seconds(1))
        let response = try await call.value
        #expect(response.status == .ok && bodies[1].closings == 0)
        #expect(try await response.body.collect() == Array("hello".utf8))
    }

    @Test("E12 a response that a validator makes another in memory of is closed")
    func replaced() async throws {
        let body = ArrivingBody()
        let stub = StubTransport { HTTPResponse(status: .ok, body: .incoming(body), request: $0) }
        let client = bench.client(
            stub,
            validators: [
                CallbackValidator { .nextWith(HTTPResponse(status: .ok, body: .text("new"), request: $1)) }
            ])
        #expect(try await client.stream(HTTPRequest("/")).body.text == "new")
        #expect(body.closings > 0)
    }

    @Test("E12 a response that a validator wraps stays open")
    func wrapped() async throws {
        let body = ArrivingBody()
        let stub = StubTransport { HTTPResponse(status: .ok, body: .incoming(body), request: $0) }
        let client = bench.client(
            stub,
            validators: [
                CallbackValidator { response, _ in
                    var response = response
                    response.body = .once(response.body)
                    return .nextWith(response)
                }
            ])
        #expect(try await client.stream(HTTPRequest("/")).body.collect() == Array("hello".utf8))
    }

    @Test("E12 a response is closed when the call fails with an error that doesn't carry it")
    func failed() async {
        for isWrapped in [false, true] {
            let body = ArrivingBody()
            let stub = StubTransport { HTTPResponse(status: .ok, body: .incoming(body), request: $0) }
            let client = bench.client(
                stub,
                validators: [
                    CallbackValidator { response, _ in
                        var response = response
                        if isWrapped { response.body = .once(response.body) }
                        return .nextWith(response)
                    }, CallbackValidator { _, _ in throw Failure() },
                ])
            await #expect(throws: Failure()) { try await client.stream(HTTPRequest("/")) }
            #expect(body.closings > 0)
        }
    }

    @Test("E12 the body of a response that an error carries can be read", arguments: [0, 1])
    func carried(maxRetries: Int) async throws {
        let stub = StubTransport { HTTPResponse(status: 503, body: .incoming(ArrivingBody()), request: $0) }
        let client = bench.client(stub, maxRetries: maxRetries, validators: [AlwaysRetry()])
        let error = await httpError { try await client.stream(HTTPRequest("/")) }
        #expect(try await error?.response?.body.collect() == Array("hello".utf8))
    }
}
