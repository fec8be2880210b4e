import Foundation
import Midstream
import MidstreamTesting

/// Answers at once, so that nothing but the pipeline is measured.
struct Instant: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(status: 200, body: .bytes([65]), request: request)
    }
}

/// Does nothing, as every interceptor at least does.
struct Nothing: HTTPInterceptor {
    let stage = InterceptorStage.exchange

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await next(request)
    }
}

@main
struct ResilienceBench {
    static func main() async throws {
        let parts = CommandLine.arguments.dropFirst()
        if parts.isEmpty || parts.contains("passes") { try await passes() }
        if parts.isEmpty || parts.contains("outages") { try await outages() }
        if parts.isEmpty || parts.contains("speed") { try await speed() }
    }

    /// Nanoseconds that a part adds to one that does nothing: the best of some rounds, since others use the machine, too.
    private static func passes() async throws {
        let nothing = try await nanoseconds { Nothing() }
        print("an exchange through an interceptor that does nothing: \(nothing) ns; each part adds")
        let parts: [(String, any HTTPInterceptor)] = [
            ("ConcurrencyLimit, adaptive", ConcurrencyLimit()), ("ConcurrencyLimit, fixed", ConcurrencyLimit(.fixed(50))),
            ("CircuitBreaker", CircuitBreaker()), ("RateLimit", RateLimit(perSecond: 1e8, burst: 1e8)),
            ("DeadlineHeader", DeadlineHeader(.milliseconds("X-Request-Timeout-Ms"))), ("Hedging", Hedging()),
        ]
        for (name, part) in parts { print("  \(name): \(try await nanoseconds { part } - nothing) ns") }
    }

    private static func nanoseconds(_ interceptor: () -> any HTTPInterceptor) async throws -> Int {
        var configuration = HTTPClient.Configuration()
        configuration.recordsTrace = false
        configuration.timeout = nil
        let client = HTTPClient(configuration: configuration, transport: Instant()) { interceptor() }
        let request = HTTPRequest("https://api.example.com/users/42")
        var best = Duration.seconds(3_600)
        for _ in 0..<15 {
            let start = ContinuousClock.now
            for _ in 0..<20_000 { _ = try await client.send(request) }
            best = min(best, ContinuousClock.now - start)
        }
        return Int(best / .nanoseconds(1) / 20_000)
    }

    private static func outages() async throws {
        typealias Make = @Sendable (SimulationWorld) throws -> HTTPClient
        func client(
            retries: Int = 3, budget: RetryBudget? = RetryBudget(),
            _ parts: @escaping @Sendable () -> [any HTTPInterceptor] = { [] }
        ) -> Make {
            { world in
                var configuration = world.configuration
                configuration.timeout = .seconds(1)
                configuration.maxRetries = retries
                configuration.retryBudget = budget
                return HTTPClient(configuration: configuration, transport: world.transport) { parts() }
            }
        }
        for (slower, load) in [(4.0, 200.0), (20, 200), (20, 150)] {
            print("\n25 workers of 100 ms, \(Int(load)) calls/s, \(Int(slower)) times slower for 10 s, attempts of 1 s at most")
            print(
                try await OutageComparison(
                    of: 60..<70, within: 200,
                    clients: [
                        "no retries": client(retries: 0), "3 retries, no budget": client(budget: nil),
                        "3 retries, the default budget": client(), "and a breaker": client { [CircuitBreaker()] },
                        "and a limit of 50": client { [ConcurrencyLimit(.fixed(50))] },
                        "and an adaptive limit": client { [ConcurrencyLimit()] },
                        "Resilience.standard": client { [Resilience.standard] },
                    ], server: ServerModel(workers: 25, service: .exponential(mean: .milliseconds(100))),
                    load: .poisson(perSecond: load), effect: .slower(slower)))
        }
    }

    private static func speed() async throws {
        let report = try await Simulation(seed: 1) { world in
            HTTPClient(configuration: world.configuration, transport: world.transport) { Resilience.standard }
        } server: {
            ServerModel(workers: 100, service: .exponential(mean: .milliseconds(50)))
        } load: {
            .poisson(perSecond: 1_000)
        }.run(for: .seconds(100))
        print("\n\(report.calls(0..<100)) simulated calls: \(report.realTime), \(report.jobs) jobs")
    }
}
