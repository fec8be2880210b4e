import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

/// What must hold whatever happens, looked at in worlds of many seeds: all parts at once, a server that fails in some way, users
/// that give up at any moment.
@Suite("What holds in any world", .leavesNothing, .timeLimit(.minutes(10)))
struct PropertyTests {
    private static let calls = 300

    /// Counts what is under way further in.
    private final class Watch: HTTPInterceptor {
        struct Seen: Sendable {
            var now = 0
            var most = 0
            var sends = 0
            /// How often something was let in beyond the limit of the moment.
            var excess = 0
        }

        let stage = InterceptorStage.exchange
        let seen = Locked(Seen())
        let limit: ConcurrencyLimit

        init(_ limit: ConcurrencyLimit) { self.limit = limit }

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            let state = limit.states["https://server.test"]
            seen.withLock { seen in
                seen.now += 1
                seen.sends += 1
                seen.most = max(seen.most, seen.now)
                // Nothing waits or returns between the permit and here.
                if let state, state.inFlight > state.limit, seen.now > state.inFlight { seen.excess += 1 }
            }
            defer { seen.withLock { $0.now -= 1 } }
            return try await next(request)
        }
    }

    /// Stands just inside the breaker, and counts what is let through while that is half open.
    private final class ProbeWatch: HTTPInterceptor {
        let stage = InterceptorStage.exchange
        let rank = InterceptorRank.breaker
        let seen = Locked((now: 0, most: 0, all: 0))
        let breaker: CircuitBreaker
        let clock: SimulatedClock

        init(_ breaker: CircuitBreaker, _ clock: SimulatedClock) { (self.breaker, self.clock) = (breaker, clock) }

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            guard breaker.state(of: "https://server.test", on: clock) == .halfOpen else { return try await next(request) }
            seen.withLock { seen in
                seen.now += 1
                seen.all += 1
                seen.most = max(seen.most, seen.now)
            }
            defer { seen.withLock { $0.now -= 1 } }
            return try await next(request)
        }
    }

    private struct World {
        let limit: ConcurrencyLimit
        let hedging: Hedging
        let watch: Watch
        let probes: ProbeWatch
        let maximum: Int
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("in a hundred worlds", arguments: 0..<10)
    func properties(ten: Int) async throws {
        for seed in (ten * 10)..<(ten * 10 + 10) { try await look(at: UInt64(seed)) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    private func look(at seed: UInt64) async throws {
        let random = SimulatedRandom(seed: seed &* 7_919)
        let worlds = Locked<[World]>([])
        let (maximum, queue) = (5 + Int(random.next() % 40), Int(random.next() % 3) * 10)
        let isFixed = random.next() % 2 == 0
        let rate = 20 + Double(random.next() % 100)
        let effects: [Incidents.Effect] = [
            .slower(20), .errors(0.9, status: 503), .errors(0.5, status: 429), .loss(0.5), .unreachable, .cold(30), .slower(3),
        ]
        let (effect, second) = (effects[Int(random.next() % 7)], effects[Int(random.next() % 7)])
        let load = 20 + Double(random.next() % 80)
        let seconds = Int(Double(Self.calls) / load) + 2
        let report = try await Simulation(seed: seed) { world in
            let limit = ConcurrencyLimit(
                isFixed ? .fixed(maximum) : .adaptive(start: maximum, in: 2...maximum), queue: queue)
            let breaker = CircuitBreaker(minimum: 5, window: .seconds(2), breakFor: .milliseconds(300))
            let hedging = Hedging(delay: .milliseconds(50))
            let (watch, probes) = (Watch(limit), ProbeWatch(breaker, world.clock))
            worlds.withLock {
                $0.append(World(limit: limit, hedging: hedging, watch: watch, probes: probes, maximum: maximum))
            }
            var configuration = world.configuration
            configuration.timeout = .milliseconds(800)
            configuration.deadline = .seconds(2)
            configuration.maxRetries = 3
            configuration.recordsTrace = seed % 4 == 0
            return testClient(configuration: configuration, transport: world.transport) {
                watch
                hedging
                breaker
                probes
                limit
                RateLimit(perSecond: rate, burst: 10, maximumWait: .milliseconds(500))
            }
        } server: {
            ServerModel(
                workers: 4, service: .lognormal(median: .milliseconds(30), p99: .milliseconds(300)),
                queue: seed % 2 == 0 ? .bounded(20) : .unbounded)
        } load: {
            .poisson(perSecond: load).clients(1 + Int(seed % 3)).patience(.exponential(mean: .milliseconds(400)))
        } during: {
            .from(1, to: 2, effect)
                .from(2, to: 2.5, second)
        }.run(for: .seconds(seconds))

        // No call is lost, and none counts twice.
        #expect(report.stalled.isEmpty, "seed \(seed)")
        for row in report.rows {
            #expect(row.good + row.refused <= row.calls, "seed \(seed)")
            #expect(row.p50 ?? .zero <= row.p99 ?? .zero, "seed \(seed)")
            #expect((row.p50 == nil) == (row.good == 0), "seed \(seed)")
        }
        var sends = 0
        for world in worlds.withLock({ $0 }) {
            let seen = world.watch.seen.withLock { $0 }
            // The limit holds, and permits and places in the queue come back.
            #expect(seen.most <= world.maximum && seen.excess == 0, "seed \(seed)")
            #expect(seen.now == 0, "seed \(seed)")
            if let state = world.limit.states["https://server.test"] {
                #expect(state.inFlight == 0 && state.queued == 0, "seed \(seed)")
                #expect(state.limit >= 1 && state.limit <= world.maximum, "seed \(seed)")
            }
            // One probe at a time.
            let probes = world.probes.seen.withLock { $0 }
            #expect(probes.most <= 1 && probes.now == 0, "seed \(seed)")
            // Hedges stay within their budget, requests within the quota.
            if let state = world.hedging.states["https://server.test"] {
                #expect(Double(state.hedges) <= 0.05 * Double(state.exchanges) + 2 + 1e-6, "seed \(seed)")
                #expect(state.hedges >= 0, "seed \(seed)")
            }
            #expect(Double(seen.sends) <= rate * Double(seconds + 3) + 10, "seed \(seed)")
            sends += seen.sends
        }
        // What went through the last interceptor is what came to the server, but for the end and what was cancelled in between.
        #expect(report.rows.reduce(0) { $0 + $1.sends } <= sends, "seed \(seed)")
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
