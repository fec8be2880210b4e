import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("What holds in any world", .leavesNothing, .timeLimit(.minutes(10)))
struct PropertyTests {
    /// How often the worlds had something to look at.
    private struct Occasions {
        var counts: [String: Int] = [:]

        @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
        mutating func count(_ seen: Inhabitant.Seen, of who: Inhabitant) {
            counts["probes", default: 0] += seen.probes
            counts["hedges", default: 0] += seen.hedges
            counts["queued", default: 0] += seen.queued
            counts["changes", default: 0] += seen.changes.count
            counts["quota waits", default: 0] += seen.longestQuotaWait > .zero ? 1 : 0
            counts["full limits", default: 0] += seen.most == who.maximum ? 1 : 0
            counts["retries", default: 0] += seen.exchanges.values.count { $0 > 1 }
            counts["deadlines", default: 0] += seen.calls.values.count { $0.error?.code == .deadlineExceeded }
            counts["cancellations", default: 0] += seen.calls.values.count { $0.wasCancelled }
            counts["shared", default: 0] += seen.calls.count - Set(seen.calls.values.map { $0.body ?? "\($0.start)" }).count
            counts["without failures", default: 0] += seen.failures == 0 ? 1 : 0
            for code in [HTTPError.Code.overloaded, .circuitOpen, .rateLimited] {
                counts["\(code)", default: 0] += seen.refusals[code] ?? 0
            }
        }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("in a hundred worlds", arguments: 0..<4)
    func properties(quarter: UInt64) async throws {
        var occasions = Occasions()
        for seed in (quarter * 25)..<(quarter * 25 + 25) {
            let world = try await World(seed: seed)
            for who in world.inhabitants {
                let seen = who.seen.withLock { $0 }
                occasions.count(seen, of: who)
                for property in Property.all where !property.holds(world, who, seen) {
                    Issue.record("\(property.name): not in world \(seed)")
                }
            }
        }
        for (name, count) in occasions.counts { #expect(count > 0, "no \(name)") }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("a world with all parts is the same each time")
    func deterministic() async throws {
        func world() async throws -> SimulationReport {
            try await Simulation(seed: 3) { world in
                testClient(configuration: world.configuration, transport: world.transport) {
                    Resilience.standard
                    Hedging(delay: .milliseconds(40))
                    RateLimit(perSecond: 60, burst: 10, adaptive: true)
                }
            } server: {
                ServerModel(
                    workers: 5, service: .lognormal(median: .milliseconds(40), p99: .milliseconds(400)), queue: .bounded(10),
                    replicas: 2, quota: .init(rate: 70, burst: 20))
            } load: {
                .poisson(perSecond: 80).clients(3).patience(.exponential(mean: .milliseconds(500)))
            } during: {
                .from(2, to: 3, .replica(0, slower: 10))
                    .from(4, to: 5, .loss(0.3))
            }.run(for: .seconds(8))
        }
        let (first, second) = try await (world(), world())
        #expect("\(first)" == "\(second)" && first.rows == second.rows && first.jobs == second.jobs)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("hedging takes the edge off a server of which one in twenty answers is slow, for few more requests")
    func bimodal() async throws {
        func run(_ hedging: Bool) async throws -> SimulationReport {
            try await Simulation(seed: 1) { world in
                testClient(configuration: world.configuration, transport: world.transport) {
                    if hedging { Hedging(delay: .milliseconds(150), percentile: 0.94, budget: 0.06) }
                }
            } server: {
                ServerModel(
                    workers: 1_000,
                    service: .bimodal(
                        .lognormal(median: .milliseconds(80), p99: .milliseconds(110)), share: 0.05, takes: .constant(.seconds(1))
                    ))
            } load: {
                .poisson(perSecond: 50)
            }.run(for: .seconds(60))
        }
        let (plain, hedged) = try await (run(false), run(true))
        func p99(_ report: SimulationReport) -> Duration { report.rows.compactMap(\.p99).sorted()[30] }
        #expect(p99(plain) == .seconds(1))
        #expect(p99(hedged) < .milliseconds(240))
        #expect(hedged.sendsPerCall(0..<60) <= 1.06)
    }
}
