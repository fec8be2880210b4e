import MidstreamCore
import MidstreamResilience
import MidstreamTesting
import TestSupport

/// What clients of a simulation do about failures.
enum Policy: String, CaseIterable, Sendable {
    case noRetries, unboundedRetries, defaultBudget, breaker, fixedLimit, adaptiveLimit, standard

    func client(in world: SimulationWorld) -> HTTPClient {
        var configuration = world.configuration
        configuration.timeout = .seconds(1)
        configuration.maxRetries = self == .noRetries ? 0 : 3
        if self == .unboundedRetries { configuration.retryBudget = nil }
        return testClient(configuration: configuration, transport: world.transport) {
            switch self {
            case .noRetries, .unboundedRetries, .defaultBudget: []
            case .breaker: CircuitBreaker()
            case .fixedLimit: ConcurrencyLimit(.fixed(50))
            case .adaptiveLimit: ConcurrencyLimit()
            case .standard: Resilience.standard
            }
        }
    }

    /// 25 workers of 100 ms that go on although the client has gone; from second 60 to 70 they are slower. Attempts may take
    /// a second.
    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func outage(slower: Double, perSecond: Double, seed: UInt64 = 1, seconds: Int = 200) async throws -> SimulationReport {
        try await Simulation(seed: seed) {
            client(in: $0)
        } server: {
            ServerModel(workers: 25, service: .exponential(mean: .milliseconds(100)))
        } load: {
            .poisson(perSecond: perSecond)
        } during: {
            .from(60, to: 70, .slower(slower))
        }.run(for: .seconds(seconds))
    }
}
