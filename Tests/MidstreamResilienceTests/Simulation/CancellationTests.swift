import Interception
import MidstreamCore
import MidstreamResilience
import TestSupport
import Testing

@testable import MidstreamTesting

/// A world is run once to count the moments at which its tasks wait, and then once for each of them, at which calls are cancelled.
@Suite("Cancelling at each await", .leavesNothing, .timeLimit(.minutes(10)))
struct CancellationTests {
    private static let key = "https://server.test"

    private struct Parts: Sendable {
        let limit = ConcurrencyLimit(.fixed(3), queue: 2)
        let breaker: CircuitBreaker
        let hedging = Hedging(delay: .milliseconds(60), budget: 0.3)
        let coalescing = Coalescing()
        let clock: SimulatedClock
        /// What there was to be cancelled.
        let met = Locked<Set<String>>([])

        init(_ clock: SimulatedClock) {
            self.clock = clock
            let met = met
            breaker = CircuitBreaker(
                minimum: 3, window: .milliseconds(400), breakFor: .milliseconds(200), longestBreak: .milliseconds(400)
            ) { change in
                if case .string(let state) = change.attributes["to"] { met.withLock { _ = $0.insert(state) } }
            }
        }

        func meet(_ what: String) { met.withLock { _ = $0.insert(what) } }

        /// Notes when a request comes by, and whether it had to wait since it was seen last.
        func arrivals(_ what: String) -> Lookout {
            Lookout(.exchange, .quota) { [self] request, next in
                if clock.now.offset > request.context[Arrival.self] { meet(what) }
                var request = request
                request.context[Arrival.self] = clock.now.offset
                return try await next(request)
            }
        }
    }

    private enum Arrival: RequestContextKey {
        static let defaultValue = Duration.seconds(1_000)
    }

    private struct Outcome {
        let report: SimulationReport
        let parts: Parts
        let openBodies: Int
        let last: Bool
    }

    /// Three seconds: a good server, one that fails, a good one again; the last calls have to succeed.
    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    private func run(_ cancellation: SimulatedCancellation?) async throws -> Outcome {
        let parts = Locked<Parts?>(nil)
        let bodies = Locked(0)
        let statuses = Locked<[Int: Bool]>([:])
        let report = try await Simulation(seed: 11) { world in
            let own = Parts(world.clock)
            parts.withLock { $0 = own }
            var configuration = world.configuration
            configuration.timeout = .milliseconds(800)
            return testClient(configuration: configuration, transport: world.transport) {
                Lookout(.call) { request, next in
                    let number = Int(request.headers["X-Request-ID"] ?? "") ?? 0
                    statuses.withLock { $0[number] = false }
                    let response = try await next(request)
                    statuses.withLock { $0[number] = true }
                    return response
                }
                // As `Resilience.standard`, but small enough to come to each of its limits.
                Resilience.standard(timeout: .milliseconds(800), deadline: .seconds(2)).interceptors[0]
                own.limit
                own.breaker
                own.hedging
                own.coalescing
                own.arrivals("waits")
                RateLimit(perSecond: 22, burst: 2, maximumWait: .milliseconds(300))
                own.arrivals("paced")
                Lookout { request, next in
                    if own.clock.now.offset > request.context[Arrival.self] { own.meet("queued") }
                    if own.coalescing.waiting > 1 { own.meet("shared") }
                    if request.attempt > 1 { own.meet("retried") }
                    return try await next(request)
                }
            }
        } server: {
            ServerModel(workers: 4, service: .lognormal(median: .milliseconds(40), p99: .milliseconds(120)), queue: .bounded(3)) {
                bodies.withLock { $0 += 1 }
                let body = TrackedBody(Array("answer".utf8)) { bodies.withLock { $0 -= 1 } }
                return HTTPResponse(status: 200, body: .incoming(body), request: $0)
            }
        } load: {
            .constant(perSecond: 30).requests { number in
                HTTPRequest(
                    "https://server.test/\(number % 3 == 2 ? number : number / 3 * 3)", headers: ["X-Request-ID": "\(number)"])
            }
        } during: {
            .from(0.5, to: 1.1, .errors(0.95, status: 503))
                .from(1.5, to: 1.8, .slower(12))
        }.run(for: .seconds(3), cancelling: cancellation)
        return Outcome(
            report: report, parts: try #require(parts.withLock { $0 }), openBodies: bodies.withLock { $0 },
            last: statuses.withLock { statuses in statuses.keys.max().flatMap { statuses[$0] } ?? false })
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("the world comes to all there is to be cancelled")
    func world() async throws {
        let whole = try await run(nil)
        #expect(whole.report.jobs > 500 && whole.last)
        #expect(whole.parts.hedging.states[Self.key]?.hedges ?? 0 > 0)
        let all: Set<String> = ["open", "half open", "closed", "shared", "queued", "retried", "paced"]
        #expect(whole.parts.met.withLock { $0 } == all)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test(
        "nothing is left under way, all permits, places and bodies come back",
        arguments: [(true, 0), (true, 1), (false, 0), (false, 3)])
    func everywhere(isOfAll: Bool, first: Int) async throws {
        // All open calls at each, the oldest alone at every third.
        for job in stride(from: first, to: try await run(nil).report.jobs, by: isOfAll ? 2 : 6) {
            let outcome = try await run(SimulatedCancellation(job: job, isOfAll: isOfAll))
            let limit = try #require(outcome.parts.limit.states[Self.key])
            #expect(limit.inFlight == 0 && limit.queued == 0, "permits, job \(job)")
            #expect(outcome.parts.coalescing.waiting == 0, "shared calls, job \(job)")
            #expect(outcome.openBodies == 0, "bodies, job \(job)")
            #expect(outcome.report.stalled.isEmpty, "stalled, job \(job)")
            // The place of a probe comes back: otherwise the breaker would stay half open.
            #expect(outcome.parts.breaker.state(of: Self.key, on: outcome.parts.clock) == .closed, "probes, job \(job)")
            let hedging = try #require(outcome.parts.hedging.states[Self.key])
            #expect(Double(hedging.hedges) <= 0.3 * Double(hedging.exchanges) + 2, "hedges, job \(job)")
        }
    }
}
