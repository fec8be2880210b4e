import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("A circuit breaker", .leavesNothing, .timeLimit(.minutes(10)))
struct CircuitBreakerTests {
    private let bench = ArbiterBench()
    private let status = Locked(500)
    private let breaker = CircuitBreaker()

    private var stub: StubTransport {
        StubTransport { [status] request in
            HTTPResponse(status: HTTPStatus(status.withLock { $0 }), request: request)
        }
    }

    private func client(
        _ breaker: CircuitBreaker, _ transport: (any HTTPTransport)? = nil,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        bench.client(transport ?? stub, maxRetries: 0, validators: []) {
            // In the middle: breaks are as long as they are said to be.
            $0.random = { 0.5 }
            configure(&$0)
        } interceptors: {
            breaker
        }
    }

    private func open(_ client: HTTPClient, _ count: Int = 20, _ url: RequestURL = "/") async {
        for _ in 0..<count { _ = try? await client.send(HTTPRequest(url)) }
    }

    private func state(_ breaker: CircuitBreaker, _ key: String = "https://h") -> CircuitBreaker.State {
        breaker.state(of: key, on: bench.clock)
    }

    @Test("it opens when half of twenty have failed, and says so")
    func opens() async throws {
        let changes = Locked<[CallEvent]>([])
        let breaker = CircuitBreaker { change in changes.withLock { $0.append(change) } }
        let client = client(breaker)
        await open(client, 19)
        #expect(state(breaker) == .closed)
        let last = try await client.send(HTTPRequest("/"))
        #expect(state(breaker) == .open(for: .seconds(5)))
        #expect(last.trace.events(named: "breaker.changed").first?.attributes["failed"] == 20)
        bench.clock.advance(by: .milliseconds(1_800))
        let error = try #require(await httpError { try await client.send(HTTPRequest("/")) })
        #expect(error.code == .circuitOpen && error.phase == .notSent)
        #expect(error.message == "The breaker of https://h is open for 3.2 s: 20 of 20 failed, last: 500.")
        #expect(error.trace?.events(named: "breaker.refused").count == 1)
        #expect(
            changes.withLock { $0.map(\.description) } == [
                "breaker of https://h: closed → open for 5.0 s: 20 of 20 failed, last: 500"
            ])
        #expect(
            "\(try await client.explain(HTTPRequest("/")))".contains("the breaker of https://h is open for 3.2 s, would refuse"))
    }

    @Test("successes count: it takes a share of failures", arguments: [(9, false), (10, true)])
    func ratio(failures: Int, isOpen: Bool) async {
        let client = client(breaker)
        status.withLock { $0 = 404 }
        await open(client, 20 - failures)
        status.withLock { $0 = 429 }
        await open(client, failures)
        #expect((state(breaker) != .closed) == isOpen)
    }

    @Test("what is older than the window doesn't count")
    func window() async {
        let client = client(breaker)
        await open(client, 19)
        bench.clock.advance(by: .seconds(10))
        await open(client, 19)
        #expect(state(breaker) == .closed)
        bench.clock.advance(by: .seconds(9))
        await open(client, 1)
        #expect(state(breaker) == .open(for: .seconds(5)))
    }

    @Test(
        "failures without an answer count; cancellations, refusals and errors of one's own don't",
        arguments: [
            (HTTPError(.timeout) as any Error, true), (HTTPError(.connection, phase: .notSent), true),
            (HTTPError(.connectionLost), true),
            (HTTPError(.tls), true), (HTTPError(.timeout, phase: .notSent), true),
            (HTTPError.timedOut(phase: .notSent).refusedHere, false),
            (HTTPError(.connection, phase: .notSent).refusedHere, false),
            (HTTPError(.overloaded, phase: .notSent), false),
            (HTTPError(.rateLimited, phase: .notSent), false), (CancellationError(), false), (Failure(), false),
            (HTTPError(.invalidRequest), false),
        ])
    func failures(error: any Error, counts: Bool) async {
        let client = client(breaker, StubTransport { _ in throw error })
        await open(client, 30)
        #expect((state(breaker) != .closed) == counts)
    }

    /// Gets no connection within the time of an exchange.
    private struct BlackHole: ExchangeTransport {
        let isRefusing: Bool
        let keepsTime = true

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request, ExchangeOptions()) }
        func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
            if let limit = options.timeLimit { try await ClockTimer.system.sleep(for: limit) }
            let error = HTTPError(.timeout, phase: .notSent)
            throw isRefusing ? error.refusedHere : error
        }
    }

    @Test("a connection that hangs until the deadline is a failure; that none was free isn't", arguments: [false, true])
    func hangingConnection(isRefusing: Bool) async {
        let breaker = CircuitBreaker(minimum: 1)
        let client = testClient(baseURL: "https://h", transport: BlackHole(isRefusing: isRefusing)) { breaker }
        var request = HTTPRequest("/")
        request.deadline = .milliseconds(20)
        // On a busy machine the time of some may be over before they are sent.
        for _ in 0..<20 where breaker.state(of: "https://h") == .closed {
            let error = await httpError { [request] in try await client.send(request) }
            #expect(error?.code == .deadlineExceeded)
        }
        #expect((breaker.state(of: "https://h") == .closed) == isRefusing)
    }

    @Test("failures are remembered, however many other origins there are")
    func manyOrigins() async {
        let breaker = CircuitBreaker(minimum: 2)
        let client = client(breaker)
        for _ in 0..<2 {
            for number in 0..<1_500 { await open(client, 1, "https://h\(number)/") }
        }
        #expect(state(breaker, "https://h0") != .closed && state(breaker, "https://h1499") != .closed)
    }

    @Test("slow exchanges open it, when it is told what is slow")
    func slow() async {
        let breaker = CircuitBreaker(slowerThan: .seconds(1))
        let clock = bench.clock
        let client = client(
            breaker,
            StubTransport { request in
                clock.advance(by: .milliseconds(1_001))
                return HTTPResponse(status: 200, request: request)
            })
        await open(client, 9)
        #expect(state(breaker) == .closed)
        let quick = CircuitBreaker(slowerThan: .seconds(2), minimum: 3)
        await open(self.client(quick, client.transport), 9)
        #expect(state(quick) == .closed)
        let eager = CircuitBreaker(slowerThan: .seconds(1), minimum: 3)
        await open(self.client(eager, client.transport), 3)
        #expect(state(eager) == .open(for: .seconds(5)))
        let error = await httpError { try await self.client(eager, client.transport).send(HTTPRequest("/")) }
        #expect(error?.message.contains("3 of 3 were slow, last: 1.0 s") == true)
        // Nor has a probe failed that is slow.
        clock.advance(by: .seconds(5))
        await open(self.client(eager, client.transport), 1)
        let refusal = await httpError { try await self.client(eager, client.transport).send(HTTPRequest("/")) }
        #expect(refusal?.message.contains("1 of 1 were slow, last: 1.0 s") == true)
    }

    @Test("what an exchange waits for on this side doesn't make it slow: a quota …")
    func waitsForQuota() async throws {
        let breaker = CircuitBreaker(slowerThan: .milliseconds(500), minimum: 2)
        let client = bench.client(
            StubTransport(status: 200),
            interceptors: {
                breaker
                RateLimit(perSecond: 1, burst: 1)
            })
        _ = try await client.send(HTTPRequest("/"))
        for _ in 0..<3 { #expect(await bench.waits(1, of: client).delays == [.seconds(1)]) }
        #expect(state(breaker) == .closed)
    }

    @Test("… or a permit")
    func waitsForPermit() async throws {
        func breaker() -> CircuitBreaker { CircuitBreaker(slowerThan: .milliseconds(500), slowRatio: 0.9, minimum: 2) }
        let (outer, inner) = (breaker(), breaker())
        let limit = ConcurrencyLimit(.fixed(1), queue: 1)
        let gate = Gate()
        let stub = StubTransport { request in
            await gate.wait()
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(
            stub,
            interceptors: {
                outer
                inner
                limit
            })
        async let first = client.send(HTTPRequest("/"))
        await gate.reached()
        async let second = client.send(HTTPRequest("/"))
        await eventually { limit.states["https://h"]?.queued == 1 }
        bench.clock.advance(by: .seconds(1))
        gate.open()
        _ = try await (first, second)
        // The first one was slow.
        #expect(state(outer) == .closed && state(inner) == .closed)
    }

    @Test("requests that are kept from answers can be shared")
    func keptRequest() async throws {
        let client = client(CircuitBreaker(slowerThan: .seconds(1)))
        let (one, other) = (try await client.send(HTTPRequest("/")).request, try await client.send(HTTPRequest("/")).request)
        #expect(one.context.isEqual(to: other.context))
    }

    @Test("half open it lets one through at a time; three good ones close it")
    func probes() async throws {
        let gate = Gate()
        let isHeld = Locked(false)
        let client = client(
            breaker,
            StubTransport { [status] request in
                if isHeld.withLock({ $0 }) { await gate.wait() }
                return HTTPResponse(status: HTTPStatus(status.withLock { $0 }), request: request)
            })
        await open(client)
        bench.clock.advance(by: .seconds(5))
        #expect(state(breaker) == .halfOpen)
        status.withLock { $0 = 200 }
        isHeld.withLock { $0 = true }
        async let probe = client.send(HTTPRequest("/"))
        await gate.reached()
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .circuitOpen && error?.message.contains("half open") == true)
        isHeld.withLock { $0 = false }
        gate.open()
        #expect(try await probe.trace.events(named: "breaker.probe").count == 1)
        for _ in 0..<2 {
            #expect(state(breaker) == .halfOpen)
            _ = try await client.send(HTTPRequest("/"))
        }
        #expect(state(breaker) == .closed)
    }

    @Test("half open it lets another one through when the first takes longer than a break")
    func longProbe() async throws {
        let (gate, requests) = (Gate(), Locked(0))
        let client = client(
            breaker,
            StubTransport { [status] request in
                let number = requests.increment()
                if number == 21 { await gate.wait() }
                return HTTPResponse(status: HTTPStatus(status.withLock { $0 }), request: request)
            })
        await open(client)
        status.withLock { $0 = 200 }
        bench.clock.advance(by: .seconds(5))
        async let poll = client.send(HTTPRequest("/"))
        await gate.reached()
        bench.clock.advance(by: .seconds(4))
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .circuitOpen)
        bench.clock.advance(by: .seconds(1))
        for _ in 0..<3 { _ = try await client.send(HTTPRequest("/")) }
        #expect(state(breaker) == .closed)
        gate.open()
        #expect(try await poll.status == .ok)
    }

    @Test("a failed probe doubles the break, up to the longest")
    func doubling() async {
        let breaker = CircuitBreaker(longestBreak: .seconds(15))
        let client = client(breaker)
        await open(client)
        for seconds in [5, 10, 15, 15] {
            #expect(state(breaker) == .open(for: .seconds(seconds)))
            bench.clock.advance(by: .seconds(seconds))
            await open(client, 2)
        }
    }

    @Test("breaks of less than nothing are over at once, also after a failed probe")
    func negativeBreaks() async {
        let never = Duration.zero - .seconds(1.6e20)
        let breaker = CircuitBreaker(minimum: 1, breakFor: never, longestBreak: never)
        let client = client(breaker)
        for _ in 0..<3 {
            await open(client, 1)
            #expect(state(breaker) == .halfOpen)
        }
    }

    @Test("a break is a tenth longer or shorter", arguments: [(0.0, 4_500), (0.999_999_999_9, 5_500)])
    func spread(random: Double, milliseconds: Int) async {
        await open(client(breaker) { $0.random = { random } })
        guard case .open(let left) = state(breaker) else { return #expect(Bool(false)) }
        #expect(abs(left / .milliseconds(1) - Double(milliseconds)) < 1)
    }

    @Test("the random number of a break is asked for once, by who may ask the breaker")
    func askedByRandom() async {
        let states = Locked<[CircuitBreaker.State]>([])
        let client = client(breaker) { [breaker, bench] in
            $0.random = {
                let state = breaker.state(of: "https://h", on: bench.clock)
                states.withLock { $0.append(state) }
                return 0.5
            }
        }
        await open(client)
        #expect(states.withLock { $0 } == [.closed])
        #expect(state(breaker) == .open(for: .seconds(5)))
    }

    @Test("a probe that is cancelled gives its place back")
    func cancelledProbe() async throws {
        let isHeld = Locked(false)
        let stub = StubTransport { [status] request in
            if isHeld.withLock({ $0 }) { try await untilCancelled() }
            return HTTPResponse(status: HTTPStatus(status.withLock { $0 }), request: request)
        }
        let client = client(breaker, stub)
        await open(client)
        bench.clock.advance(by: .seconds(5))
        isHeld.withLock { $0 = true }
        let probe = Task { try await client.send(HTTPRequest("/")) }
        await eventually { stub.requests.count == 21 }
        probe.cancel()
        _ = await probe.result
        #expect(state(breaker) == .halfOpen)
        isHeld.withLock { $0 = false }
        status.withLock { $0 = 200 }
        for _ in 0..<3 { _ = try await client.send(HTTPRequest("/")) }
        #expect(state(breaker) == .closed)
    }

    @Test("results of exchanges that were begun before it opened are no news")
    func late() async throws {
        let gate = Gate()
        let client = client(
            breaker,
            StubTransport { [status] request in
                if request.headers["Late"] != nil {
                    await gate.wait()
                    return HTTPResponse(status: 500, request: request)
                }
                return HTTPResponse(status: HTTPStatus(status.withLock { $0 }), request: request)
            })
        async let late = client.send(HTTPRequest("/", headers: ["Late": "1"]))
        await gate.reached()
        await open(client)
        bench.clock.advance(by: .seconds(5))
        status.withLock { $0 = 200 }
        _ = try await client.send(HTTPRequest("/"))
        gate.open()
        _ = try await late
        #expect(state(breaker) == .halfOpen)
        for _ in 0..<2 { _ = try await client.send(HTTPRequest("/")) }
        #expect(state(breaker) == .closed)
    }

    @Test(
        "Retry-After makes the break longer, up to the longest, whatever it says",
        arguments: [
            ("20", 20), ("3", 5), ("99999999999999999999", 60), ("-5", 5), ("1e99", 5), (String(repeating: "9", count: 300), 60),
            ("soon", 5),
        ])
    func retryAfter(value: String, seconds: Int) async {
        await open(
            client(
                breaker,
                StubTransport { request in
                    HTTPResponse(status: 503, headers: ["Retry-After": value], request: request)
                }))
        #expect(state(breaker) == .open(for: .seconds(seconds)))
    }

    @Test("isolate refuses everything, close lets everything through", arguments: [true, false])
    func byHand(one: Bool) async throws {
        status.withLock { $0 = 200 }
        let client = client(breaker)
        breaker.isolate(one ? "https://h" : nil)
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.message == "The breaker of https://h is isolated; close(_:) lets requests through again.")
        #expect(state(breaker) == .isolated)
        breaker.close(one ? "https://h" : nil)
        _ = try await client.send(HTTPRequest("/"))
        #expect(state(breaker) == .closed)
    }

    @Test("where all are isolated, the one that is closed lets requests through, known or not", arguments: [true, false])
    func oneOfAll(isKnown: Bool) async throws {
        status.withLock { $0 = 200 }
        let changes = Locked<[String]>([])
        let breaker = CircuitBreaker { change in changes.withLock { $0.append(change.description) } }
        let client = client(breaker)
        breaker.isolate()
        if isKnown { #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .circuitOpen) }
        breaker.close("https://h")
        _ = try await client.send(HTTPRequest("/"))
        #expect(state(breaker) == .closed && state(breaker, "https://other") == .isolated)
        #expect(await httpError { try await client.send(HTTPRequest("https://other/")) }?.code == .circuitOpen)
        breaker.isolate()
        #expect(state(breaker) == .isolated)
        let seen = changes.withLock { $0 }
        #expect(seen.contains { $0.contains("isolated → closed") } && seen.contains { $0.contains("closed → isolated") })
    }

    @Test("where all are isolated, the one that is closed isn't forgotten")
    func oneOfMany() async {
        status.withLock { $0 = 200 }
        let breaker = CircuitBreaker(scope: .origin.maximumKeys(1))
        let client = client(breaker)
        breaker.isolate()
        breaker.close("https://h")
        for url: RequestURL in ["https://b/", "https://c/", "https://d/"] {
            #expect(await httpError { try await client.send(HTTPRequest(url)) }?.code == .circuitOpen)
        }
        #expect(state(breaker) == .closed)
        breaker.close()
        await open(client, 1, "https://b/")
        #expect(breaker.table.all.count == 1)
    }

    @Test("an open one isn't forgotten, though what has opened it is longer ago than it is remembered")
    func openLonger() {
        let settings = BreakerSettings(
            failureRatio: 0.5, slowerThan: nil, slowRatio: 1, minimum: 1, window: .seconds(10), breakFor: .seconds(60),
            longestBreak: .seconds(60), probes: 1)
        let circuit = Circuit("https://h", settings)
        let second: Int64 = 1_000_000_000
        if let pass = circuit.admitWhenClosed() {
            _ = circuit.ended(pass, .timedOut, after: 0, retryAfter: nil, at: second) { 0.99 }
        }
        guard case .open = circuit.publicState(at: 62 * second) else { return #expect(Bool(false), "It isn't open.") }
        #expect(!circuit.isIdle(at: 62 * second))
        // It has to be probed, and is forgotten in the end.
        #expect(!circuit.isIdle(at: 120 * second) && circuit.isIdle(at: 200 * second))
        guard case .probe(let probe, _) = circuit.admit(mayProbe: true, at: 120 * second) else {
            return #expect(Bool(false), "It isn't probed.")
        }
        #expect(!circuit.isIdle(at: 300 * second))
        _ = consume probe
        #expect(circuit.isIdle(at: 300 * second))
    }

    @Test("all requests as one are let through again by any key")
    func closingAny() async throws {
        status.withLock { $0 = 200 }
        let breaker = CircuitBreaker(scope: .client)
        breaker.isolate()
        #expect(state(breaker, "any") == .isolated)
        breaker.close("any")
        #expect(state(breaker, "any") == .closed)
        _ = try await client(breaker).send(HTTPRequest("/"))
    }

    @Test("a redirect to a bad origin opens that one's breaker alone")
    func redirects() async {
        let client = client(
            breaker,
            StubTransport { request in
                request.urlText.hasPrefix("https://h")
                    ? HTTPResponse(status: 302, headers: ["Location": "https://bad/"], request: request)
                    : HTTPResponse(status: 500, request: request)
            })
        await open(client)
        #expect(state(breaker) == .closed)
        #expect(state(breaker, "https://bad") == .open(for: .seconds(5)))
    }

    @Test("one for all origins is judged as one")
    func scope() async {
        let breaker = CircuitBreaker(scope: .client)
        let client = client(breaker)
        await open(client, 10, "https://a/")
        await open(client, 10, "https://b/")
        #expect(state(breaker, "any") == .open(for: .seconds(5)))
    }
}
