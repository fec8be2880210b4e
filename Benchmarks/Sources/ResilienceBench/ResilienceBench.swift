import Foundation
import Measuring
import Midstream
import MidstreamTesting

/// Prints what resilience costs: the parts that are named, all by default.
///
/// `--count NAME TIMES SERVER` makes one kind of request so many times and measures nothing; `--names` says which there are.
@main
struct ResilienceBench {
    static func main() { runToEnd { try await measure() } }

    private static func measure() async throws {
        let parts = Array(CommandLine.arguments.dropFirst())
        if parts == ["--names"] { return print((Passes.names + Wire.names).joined(separator: "\n")) }
        if parts.count == 4, parts[0] == "--count", let times = Int(parts[2]) {
            guard let counted = Passes.counted(parts[1]) ?? Wire.counted(parts[1], server: parts[3]) else {
                return print("no such name: \(parts[1])")
            }
            for _ in 0..<times { _ = try await counted.client.send(counted.request) }
            return
        }
        if parts.isEmpty || parts.contains("passes") { try await Passes.measure() }
        if parts.isEmpty || parts.contains("wire") { try await Wire.measure() }
        if parts.isEmpty || parts.contains("outages") { try await outages() }
        if parts.isEmpty || parts.contains("speed") { try await speed() }
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
