import Midstream
import MidstreamTesting
import Testing

@Suite("Outages.md", .timeLimit(.minutes(10)))
struct ResilienceExamples {
    private let page = MarkdownPage(path: "Documentation/Outages.md")
    private let transport = StubTransport(status: .ok)
    private let session = Session()

    private let store = TokenStore()

    private struct Session: Sendable {
        let userID = "ann"
    }

    @Test("One expression")
    func standard() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            Resilience.standard  // new each time: what it knows belongs to one client
        }
        #expect(try await client.send(HTTPRequest("users")).status == .ok)
    }

    @Test("Any order")
    func order() throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            RateLimit(perSecond: 50)
            Resilience.standard
            Hedging()
        }
        print(client.pipeline)
        #expect(try shows("\(client.pipeline)"))
    }

    @Test("The parts")
    func parts() async throws {
        let log = Recorder()
        let interceptors: [any HTTPInterceptor] = [
            CircuitBreaker(
                scope: .origin, failureRatio: 0.5, minimum: 20, window: .seconds(10), breakFor: .seconds(5),
                onChange: { change in log.write("\(change)") })
        ]
        for interceptor in limits + interceptors + others {
            let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) { interceptor }
            #expect(try await client.send(HTTPRequest("users")).status == .ok)
        }
        // Those that the page names.
        let withTask = (limits + interceptors + others).filter { !$0.traits.contains(.endsInTime) }
        #expect(withTask.map { "\(type(of: $0))" } == ["RateLimit", "Coalescing", "Coalescing"])
        var prefetch = HTTPRequest("articles/43")
        prefetch.priority = .sheddable
        #expect(prefetch.priority < .normal)
    }

    @InterceptorList private var limits: [any HTTPInterceptor] {
        ConcurrencyLimit()  // adaptive from 20 on, in 4...200, for each origin
        ConcurrencyLimit(.fixed(50))
        ConcurrencyLimit(.adaptive(start: 50, in: 10...500), queue: 20)
    }

    @InterceptorList private var others: [any HTTPInterceptor] {
        Hedging(delay: .seconds(1), percentile: 0.95, budget: 0.05, reserve: 2)
        RateLimit(perSecond: 10, burst: 20, maximumWait: .seconds(5))
        RateLimit()  // as the server says
        RateLimit(dialect: .resetTime)  // X-RateLimit-Remaining and -Reset, as many servers have them
        RateLimit(quota: SharedQuota(store: store), maximumWait: .seconds(5))
        DeadlineHeader(milliseconds: "X-Request-Timeout-Ms")
        DeadlineHeader.grpc(refusesHopeless: true)
        Coalescing()
        Coalescing(ignoring: Coalescing.numbering.union(["X-Screen"])) { _ in session.userID }
        RateLimit(perSecond: 5, scope: .key { $0.headers["X-Tenant"] ?? "" })
    }

    @Test("An open breaker")
    func open() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.clock = TestClock()
        configuration.timeout = nil
        configuration.random = { 0.5 }
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: StubTransport(status: 503)
        ) {
            CircuitBreaker()
        }
        for _ in 0..<20 { _ = try? await client.send(HTTPRequest("users")) }
        do {
            _ = try await client.send(HTTPRequest("users"))
        } catch let error as HTTPError where error.code == .circuitOpen {
            print(error.message)
        }
        await #expect {
            try await client.send(HTTPRequest("users"))
        } throws: {
            try shows(($0 as? HTTPError)?.message ?? "")
        }
    }

    @Test("A quota hears what a server says")
    func sharedQuota() async {
        let busy = StubTransport(status: .tooManyRequests, headers: [.retryAfter: "5"])
        let client = HTTPClient(baseURL: "https://api.example.com", transport: busy) {
            RateLimit(quota: SharedQuota(store: store), maximumWait: .seconds(5))
        }
        _ = try? await client.send(HTTPRequest("users"))
        #expect(store.announced.events == ["https://api.example.com: 5.0 seconds"])
    }

    @Test("A fallback")
    func fallback() async throws {
        let transport = StubTransport(status: .serviceUnavailable)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            Fallback { request, error in
                guard request.method.isSafe else { throw error }
                return HTTPResponse(status: .ok, body: .text("[]"), request: request)
            }
        }
        let response = try await client.send(HTTPRequest("articles"))
        print(response.isFallback)
        #expect(response.isFallback)
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest(.post, "orders")) }
    }

    @Test("See what it does")
    func report() async throws {
        let clock = TestClock()
        var configuration = HTTPClient.Configuration()
        configuration.clock = clock
        configuration.timeout = nil
        let transport = StubTransport { request in
            clock.advance(by: .milliseconds(100))
            return HTTPResponse(status: .ok, request: request)
        }
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: transport
        ) {
            CircuitBreaker()
            ConcurrencyLimit()
        }
        for _ in 0..<20 {
            var request = HTTPRequest("users")
            request.maxRetries = 1
            _ = try await client.send(request)
        }
        print(client.resilience)
        #expect(try shows("\(client.resilience)"))
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("A simulation")
    func simulation() async throws {
        let report = try await Simulation(seed: 1) { world in
            HTTPClient(configuration: world.configuration, transport: world.transport) { Resilience.standard }
        } server: {
            ServerModel(
                workers: 10, service: .lognormal(median: .milliseconds(80), p99: .milliseconds(400)), queue: .bounded(500))
        } load: {
            .poisson(perSecond: 60).clients(4)
        } during: {
            .from(10, to: 15, .slower(4))
                .from(20, to: 22, .errors(0.5, status: 503))
        }.run(for: .seconds(30))
        print(report)  // second by second: goodput, sends, times, limit, breaker

        #expect(report.goodput(0..<10) > 0.95)
        #expect(report.recovery(after: 15) != nil)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("Clients side by side")
    func comparison() async throws {
        let comparison = try await OutageComparison(
            of: 10..<15, within: 40,
            clients: [
                "retries": { world in
                    var configuration = world.configuration
                    configuration.timeout = .seconds(1)
                    configuration.maxRetries = 3
                    return HTTPClient(configuration: configuration, transport: world.transport)
                },
                "standard": { world in
                    var configuration = world.configuration
                    configuration.timeout = .seconds(1)
                    return HTTPClient(configuration: configuration, transport: world.transport) { Resilience.standard }
                },
            ], server: ServerModel(workers: 5, service: .exponential(mean: .milliseconds(100))),
            load: .poisson(perSecond: 40), effect: .slower(10))
        #expect(comparison.rows.map(\.name) == ["retries", "standard"])
        #expect(comparison.rows[1].sendsPerCall < comparison.rows[0].sendsPerCall)
        #expect(comparison.rows[1].recovery != nil)
        #expect("\(comparison)".contains("recovered after"))
    }

    private func shows(_ text: String) throws -> Bool {
        try page.blocks().contains { $0.lines.joined(separator: "\n").trimmingCharacters() == text.trimmingCharacters() }
    }
}

/// Stands for a store that several processes reach.
struct TokenStore: Sendable {
    let announced = Recorder()

    func announce(_ report: QuotaReport, of key: String) { announced.write("\(key): \(report.time ?? .zero)") }
    func takeToken(of key: String) async throws -> Duration { .zero }
    func giveTokenBack(to key: String) async throws {}
}

struct SharedQuota: Quota {
    let store: TokenStore

    func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision {
        let wait = try await store.takeToken(of: key)
        return wait > longest ? .refuses(wait: wait) : .sends(after: wait)
    }

    func giveBack(for key: String) async { try? await store.giveTokenBack(to: key) }

    func learn(_ said: QuotaReport, for key: String) { store.announce(said, of: key) }
}

/// Lists interceptors as a pipeline does.
@resultBuilder
private enum InterceptorList {
    static func buildExpression(_ interceptor: any HTTPInterceptor) -> [any HTTPInterceptor] { [interceptor] }
    static func buildBlock(_ parts: [any HTTPInterceptor]...) -> [any HTTPInterceptor] { parts.flatMap { $0 } }
}

extension String {
    fileprivate func trimmingCharacters() -> String {
        var text = self[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
