import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("A limit on requests under way", .leavesNothing, .timeLimit(.minutes(10)))
struct ConcurrencyLimitTests {
    private let bench = ArbiterBench()
    private let gate = Gate()

    /// Answers when the gate is opened; which requests have arrived is noted.
    private func stub(_ steps: Steps = Steps()) -> StubTransport {
        StubTransport { [gate] request in
            steps.note(request.headers["N"] ?? "-")
            await gate.wait()
            return HTTPResponse(status: 200, body: .bytes([1]), request: request)
        }
    }

    private func request(_ name: String = "-", _ priority: RequestPriority = .normal) -> HTTPRequest {
        var request = HTTPRequest("/", headers: ["N": "\(name)"])
        request.priority = priority
        return request
    }

    @Test("one too many is refused, at once and for good reason, and isn't retried")
    func refuses() async throws {
        let limit = ConcurrencyLimit(.fixed(2))
        let client = bench.client(stub(), maxRetries: 3, interceptors: { limit })
        async let first = client.send(request())
        async let second = client.send(request())
        await gate.reached(by: 2)
        let error = try #require(await httpError { try await client.send(request()) })
        #expect(error.code == .overloaded)
        #expect(error.phase == .notSent)
        #expect(error.message.contains("2 requests to https://h are under way, of 2 that may be"))
        let event = try #require(error.trace?.events(named: "concurrency.refused").first)
        #expect(event.attributes == ["key": "https://h", "in-flight": 2, "limit": 2, "queued": 0])
        gate.open()
        _ = try await (first, second)
        #expect(limit.states["https://h"] == .init(limit: 2, inFlight: 0, queued: 0))
        _ = try await client.send(request())
    }

    /// Ends its exchanges by the deadline itself, so that a call has no task that would be cancelled by it.
    private struct Punctual: ExchangeTransport {
        let base: StubTransport
        let keepsTime = true

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await base.send(request) }
        func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
            try await base.send(request)
        }
    }

    @Test(
        "a deadline that passes in the queue is the error, whoever interrupts the wait, and no failure of the server",
        arguments: [false, true])
    func deadlineInQueue(hasPassThrough: Bool) async throws {
        let limit = ConcurrencyLimit(.fixed(1), queue: 5)
        let breaker = CircuitBreaker(minimum: 1)
        let outer = ClosureHTTPInterceptor("Outer") { request, next in try await next(request) }
        let client = testClient(baseURL: "https://h", transport: Punctual(base: stub())) {
            limit
            breaker
            if hasPassThrough { outer }
        }
        async let first = client.send(request())
        await gate.reached(by: 1)
        let error = await httpError {
            var hasty = request()
            hasty.deadline = .milliseconds(20)
            _ = try await client.send(hasty)
        }
        #expect(error?.code == .deadlineExceeded && error?.phase == .notSent)
        #expect(breaker.state(of: "https://h") == .closed)
        #expect(limit.states["https://h"] == .init(limit: 1, inFlight: 1, queued: 0))
        gate.open()
        _ = try await first
    }

    @Test("each origin has a limit of its own")
    func perOrigin() async throws {
        let client = bench.client(stub(), interceptors: { ConcurrencyLimit(.fixed(1)) })
        async let first = client.send(HTTPRequest("https://a/"))
        async let second = client.send(HTTPRequest("https://b/"))
        await gate.reached(by: 2)
        gate.open()
        _ = try await (first, second)
    }

    @Test("a permit is held until a streamed body ends, is closed or is released", arguments: ["read", "closed", "released"])
    func bodies(end: String) async throws {
        let limit = ConcurrencyLimit(.fixed(1))
        let stub = StubTransport { request in
            let chunks = AsyncStream<[UInt8]> { chunks in
                chunks.yield([1, 2])
                chunks.finish()
            }
            return HTTPResponse(status: 200, body: .once(chunks), request: request)
        }
        let client = bench.client(stub, interceptors: { limit })
        var response: HTTPResponse? = try await client.stream(request())
        #expect(limit.states["https://h"]?.inFlight == 1)
        #expect(await httpError { try await client.send(request()) }?.code == .overloaded)
        switch end {
        case "read": #expect(try await response?.body.collect() == [1, 2])
        case "closed":
            response?.body.close()
            // What isn't arriving can't be closed; letting go of it is what ends it.
            response = nil
        default: response = nil
        }
        #expect(limit.states["https://h"]?.inFlight == 0)
        _ = response
    }

    @Test("a permit comes back however an exchange ends", arguments: ["throws", "cancelled", "timeout"])
    func ends(how: String) async throws {
        let limit = ConcurrencyLimit(.fixed(1))
        let stub = StubTransport { request in
            if how == "throws" { throw HTTPError(.tls) }
            try await untilCancelled()
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(stub, interceptors: { limit })
        var request = request()
        if how == "timeout" { request.timeout = .seconds(1) }
        let call = Task { [request] in try await client.send(request) }
        if how == "cancelled" {
            await eventually { !stub.requests.isEmpty }
            call.cancel()
        } else if how == "timeout" {
            await bench.clock.waitForSleepers(1)
            bench.clock.advance(by: .seconds(1))
        }
        _ = await call.result
        #expect(limit.states["https://h"]?.inFlight == 0)
    }

    @Test("what waits is let in when another ends, and says how long it waited")
    func queue() async throws {
        let limit = ConcurrencyLimit(.fixed(1), queue: 1)
        let client = bench.client(stub(), interceptors: { limit })
        async let first = client.send(request("1"))
        await gate.reached()
        async let second = client.send(request("2"))
        await eventually { limit.states["https://h"]?.queued == 1 }
        #expect(await httpError { try await client.send(request("3")) }?.code == .overloaded)
        bench.clock.advance(by: .milliseconds(120))
        gate.open()
        _ = try await first
        let event = try #require(try await second.trace.events(named: "concurrency.wait").first)
        #expect(event.attributes["wait"] == 0.12)
        #expect(limit.states["https://h"] == .init(limit: 1, inFlight: 0, queued: 0))
    }

    /// A second call, of two seconds, that waits for the first.
    private func queued(_ client: HTTPClient, _ limit: ConcurrencyLimit) async -> Task<HTTPResponse, any Error> {
        await gate.reached()
        var second = request("2")
        second.timeout = .seconds(2)
        let call = Task { [second] in try await client.send(second) }
        await eventually { limit.states["https://h"]?.queued == 1 }
        return call
    }

    @Test("a wait ends with the attempt's timeout and with the call's cancellation", arguments: [true, false])
    func waitEnds(byTimeout: Bool) async throws {
        let limit = ConcurrencyLimit(.fixed(1), queue: 5)
        let client = bench.client(stub(), interceptors: { limit })
        async let first = client.send(request("1"))
        let call = await queued(client, limit)
        if byTimeout {
            await bench.clock.waitForSleepers(1)
            bench.clock.advance(by: .seconds(2))
            let error = await call.result.httpError
            #expect(error?.code == .overloaded)
            #expect(error?.message.contains("waited 2.0 s") == true)
        } else {
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        #expect(limit.states["https://h"] == .init(limit: 1, inFlight: 1, queued: 0))
        gate.open()
        _ = try await first
    }

    /// Its time passes without waking anybody.
    private final class DeafClock: Clock {
        let time = TestClock()
        var now: TestClock.Instant { time.now }
        var minimumResolution: Duration { time.minimumResolution }

        func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
            try await time.sleep(until: deadline.advanced(by: .seconds(86_400)))
        }
    }

    /// Notes what goes wrong further in.
    private struct Witness: HTTPInterceptor {
        let steps: Steps
        let stage = InterceptorStage.exchange
        let rank = InterceptorRank.scheme
        let traits = InterceptorTraits.endsInTime

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            do {
                return try await next(request)
            } catch {
                steps.note("\(type(of: error))")
                throw error
            }
        }
    }

    @Test("a call that is cancelled in the queue isn't refused, even if the attempt's time is over by then")
    func cancelledLate() async throws {
        let (limit, clock, steps) = (ConcurrencyLimit(.fixed(1), queue: 5), DeafClock(), Steps())
        let client = bench.client(stub()) {
            $0.clock = clock
        } interceptors: {
            Witness(steps: steps)
            limit
        }
        async let first = client.send(request("1"))
        let call = await queued(client, limit)
        await clock.time.waitForSleepers(1)
        clock.time.advance(by: .seconds(2))
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(steps.all == ["CancellationError"])
        gate.open()
        _ = try await first
    }

    @Test("the sheddable go first: they leave a tenth of the limit and their places in the queue to others")
    func sheddable() async throws {
        let limit = ConcurrencyLimit(.fixed(2), queue: 1)
        let client = bench.client(stub(), interceptors: { limit })
        async let first = client.send(request("1"))
        await gate.reached()
        // One of two is free, and kept for others.
        let shed = Task { try await client.send(request("2", .sheddable)) }
        await eventually { limit.states["https://h"]?.queued == 1 }
        async let third = client.send(request("3"))
        await gate.reached(by: 2)
        let fourth = Task { try await client.send(request("4")) }
        let error = try #require(await shed.result.httpError)
        #expect(error.code == .overloaded && error.message.contains("sheddable"))
        gate.open()
        _ = try await (first, third, fourth.value)
        #expect(limit.states["https://h"] == .init(limit: 2, inFlight: 0, queued: 0))
    }

    @Test("any range is one")
    func unbounded() async throws {
        let limit = ConcurrencyLimit(.adaptive(start: .max, in: 1...Int.max))
        _ = try await bench.client(StubTransport(status: 200), interceptors: { limit }).send(request())
        #expect(limit.states["https://h"]?.inFlight == 0)
    }

    @Test("permits under way are remembered, however many other origins there are")
    func remembered() async throws {
        let limit = ConcurrencyLimit(.fixed(1))
        let client = bench.client(
            StubTransport { [gate] request in
                if request.urlText.hasPrefix("https://h/") { await gate.wait() }
                return HTTPResponse(status: 200, request: request)
            }, interceptors: { limit })
        async let first = client.send(request())
        await gate.reached()
        for number in 0..<11_000 { _ = try await client.send(HTTPRequest(.get, "https://h\(number)/")) }
        #expect(await httpError { try await client.send(request()) }?.code == .overloaded)
        #expect(limit.states.count <= 10_000)
        gate.open()
        _ = try await first
    }

    @Test("what an adaptive limit has measured is forgotten after a minute without traffic")
    func forgotten() async throws {
        let limit = ConcurrencyLimit(.adaptive(start: 20))
        let status = Locked(503)
        let stub = StubTransport { request in
            HTTPResponse(status: HTTPStatus(status.withLock { $0 }), request: request)
        }
        let client = bench.client(stub, maxRetries: 0, validators: [], interceptors: { limit })
        _ = try await client.send(request())
        status.withLock { $0 = 200 }
        bench.clock.advance(by: .seconds(60))
        _ = try await client.send(request())
        #expect(limit.states["https://h"]?.limit == 18)
        bench.clock.advance(by: .seconds(61))
        _ = try await client.send(request())
        #expect(limit.states["https://h"]?.limit == 20)
    }

    @Test(
        "a timeout, a broken connection, a 429 and a 503 lower an adaptive limit; others don't",
        arguments: [
            (429, nil, true), (503, nil, true), (500, nil, false), (200, nil, false), (0, HTTPError.Code.connectionLost, true),
            (0, .timeout, true), (0, .tls, false), (0, .overloaded, false),
        ] as [(Int, HTTPError.Code?, Bool)])
    func lowers(status: Int, code: HTTPError.Code?, isLowered: Bool) async throws {
        let limit = ConcurrencyLimit(.adaptive(start: 20))
        let stub = StubTransport { request in
            // Before it was sent: connections that hang are a server's trouble, too.
            if let code { throw HTTPError(code, phase: .notSent) }
            return HTTPResponse(status: HTTPStatus(status), request: request)
        }
        let client = bench.client(stub, validators: [], interceptors: { limit })
        let result = await Result.of { try await client.send(request()) }
        #expect(limit.states["https://h"]?.limit == (isLowered ? 18 : 20))
        let trace = try? result.get().trace
        #expect((trace ?? result.httpError?.trace)?.events(named: "concurrency.lowered").count == (isLowered ? 1 : 0))
    }

    @Test("a deadline counts as a timeout, and the user's cancellation as nothing", arguments: [true, false])
    func deadline(isDeadline: Bool) async throws {
        let limit = ConcurrencyLimit(.adaptive(start: 20))
        let stub = StubTransport { request in
            try await untilCancelled()
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(stub, interceptors: { limit })
        var request = request()
        if isDeadline { request.deadline = .seconds(1) }
        let call = Task { [request] in try await client.send(request) }
        await eventually { !stub.requests.isEmpty }
        if isDeadline {
            await bench.clock.waitForSleepers(1)
            bench.clock.advance(by: .seconds(1))
        } else {
            call.cancel()
        }
        _ = await call.result
        #expect(limit.states["https://h"]?.limit == (isDeadline ? 18 : 20))
    }

    @Test("its plan tells where it stands")
    func plan() async throws {
        let client = bench.client(stub(), interceptors: { ConcurrencyLimit(.fixed(7), queue: 2) })
        let explanation = try await client.explain(request())
        #expect("\(explanation)".contains("at most 7; 0 of 7 under way, 0 of 2 wait"))
    }

    @Test("many at once never exceed the limit, and all permits come back")
    func many() async throws {
        let limit = ConcurrencyLimit(.fixed(5), queue: 1_000)
        let present = Locked((now: 0, most: 0))
        let stub = StubTransport { request in
            present.withLock {
                $0.now += 1; $0.most = max($0.most, $0.now)
            }
            await Task.yield()
            present.withLock { $0.now -= 1 }
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(stub, interceptors: { limit })
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let call = Task { try await client.send(HTTPRequest("/")) }
                    if number % 3 == 0 { call.cancel() }
                    _ = await call.result
                }
            }
        }
        #expect(present.withLock { $0.most } <= 5)
        #expect(limit.states["https://h"] == .init(limit: 5, inFlight: 0, queued: 0))
    }
}
