import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport

@testable import MidstreamResilience

/// One client of a world, and what was seen of it.
final class Inhabitant: Sendable {
    struct Call: Sendable {
        let start: Duration
        let url: String
        let user: String
        var end: Duration?
        var ends = 0
        var isAnswered = false
        /// Nil for one that was still arriving.
        var body: String?
        var error: HTTPError?
        var otherError: String?
        var wasCancelled = false
    }

    struct Seen: Sendable {
        var calls: [Int: Call] = [:]
        /// Innermost: under way, most at once, all; hedges among them.
        var now = 0
        var most = 0
        var sends = 0
        var hedges = 0
        var unsafeHedges = 0
        /// More under way than the limit of the moment.
        var excess = 0
        /// Exchanges of a call that are under way, and all that weren't hedges.
        var open: [HTTPRequest.ID: Int] = [:]
        var mostOpen = 0
        var exchanges: [HTTPRequest.ID: Int] = [:]
        /// How many failed in a way that breaker and limit are to know of.
        var failures = 0
        var queued = 0
        /// Inside the breaker: while it was open; while it was half open.
        var passedOpen = 0
        var probing = 0
        var mostProbing = 0
        var probes = 0
        /// Behind the quota: when.
        var sent: [Duration] = []
        /// Before the quota, in order, and behind it, by their place in that order.
        var arrivals: [Duration] = []
        var passes: [Int: Duration] = [:]
        var longestQuotaWait = Duration.zero
        /// Attempts.
        var refusals: [HTTPError.Code: Int] = [:]
        var sentRefusals = 0
        var changes: [CallEvent] = []
        /// When they were.
        var changeTimes: [Duration] = []
    }

    let seen = Locked(Seen())
    let maximum: Int
    let queue: Int
    let rate: Double
    let burst: Double
    let limit: ConcurrencyLimit
    let breaker: CircuitBreaker
    let hedging = Hedging(delay: .milliseconds(50))
    let coalescing = Coalescing()
    let quota: RateLimit
    let clock: SimulatedClock

    static let longestQuotaWait = Duration.milliseconds(500)
    static let deadline = Duration.milliseconds(1_200)
    static let retries = 3
    static let key = "https://server.test"

    init(_ world: SimulationWorld, _ random: SimulatedRandom) {
        clock = world.clock
        (maximum, queue) = (2 + Int(random.next() % 12), Int(random.next() % 3) * 5)
        (rate, burst) = (8 + Double(random.next() % 60), 1 + Double(random.next() % 6))
        limit = ConcurrencyLimit(
            random.next() % 2 == 0 ? .fixed(maximum) : .adaptive(start: maximum, in: 2...maximum), queue: queue)
        let (seen, clock) = (seen, clock)
        breaker = CircuitBreaker(minimum: 5, window: .seconds(2), breakFor: .milliseconds(300)) { change in
            seen.withLock { seen in
                seen.changes.append(change)
                seen.changeTimes.append(clock.now.offset)
            }
        }
        quota = RateLimit(perSecond: rate, burst: burst, maximumWait: Self.longestQuotaWait)
    }

    func client(_ world: SimulationWorld, isTraced: Bool, chaos: Chaos) -> HTTPClient {
        var configuration = world.configuration
        configuration.timeout = .milliseconds(800)
        configuration.deadline = Self.deadline
        configuration.maxRetries = Self.retries
        configuration.recordsTrace = isTraced
        return testClient(configuration: configuration, transport: world.transport) {
            outermost
            coalescing
            refusals
            hedging
            breaker
            insideBreaker
            outsideQuota
            quota
            insideQuota
            limit
            innermost
            chaos
        }
    }

    private var outermost: Lookout {
        Lookout(.call) { [seen, clock] request, next in
            let number = Int(request.headers["X-Request-ID"] ?? "") ?? -1
            seen.withLock {
                $0.calls[number] = Call(
                    start: clock.now.offset, url: request.urlText, user: request.headers[.authorization] ?? "")
            }
            func end(_ change: (inout Call) -> Void) {
                seen.withLock { seen in
                    guard var call = seen.calls[number] else { return }
                    (call.end, call.ends, call.wasCancelled) = (clock.now.offset, call.ends + 1, Task.isCancelled)
                    change(&call)
                    seen.calls[number] = call
                }
            }
            do {
                let response = try await next(request)
                let body = response.body.bytes.map { String(decoding: $0, as: UTF8.self) }
                end { ($0.isAnswered, $0.body) = (true, body) }
                return response
            } catch {
                end {
                    $0.error = error as? HTTPError
                    $0.otherError = error is HTTPError ? nil : "\(type(of: error))"
                }
                throw error
            }
        }
    }

    private var refusals: Lookout {
        Lookout(.attempt) { [seen] request, next in
            do {
                return try await next(request)
            } catch let error as HTTPError {
                if [.overloaded, .circuitOpen, .rateLimited].contains(error.code) {
                    seen.withLock { seen in
                        seen.refusals[error.code, default: 0] += 1
                        if error.phase != .notSent { seen.sentRefusals += 1 }
                    }
                }
                throw error
            }
        }
    }

    private var insideBreaker: Lookout {
        Lookout(.exchange, .breaker) { [seen, breaker, clock] request, next in
            switch breaker.state(of: Self.key, on: clock) {
            case .halfOpen: break
            case .open, .isolated:
                seen.withLock { $0.passedOpen += 1 }
                return try await next(request)
            case .closed: return try await next(request)
            }
            seen.withLock { seen in
                seen.probing += 1
                seen.probes += 1
                seen.mostProbing = max(seen.mostProbing, seen.probing)
            }
            defer { seen.withLock { $0.probing -= 1 } }
            return try await next(request)
        }
    }

    private enum Arrival: RequestContextKey {
        static let defaultValue = Duration.zero
    }

    private enum ArrivalNumber: RequestContextKey {
        static let defaultValue = -1
    }

    private var outsideQuota: Lookout {
        Lookout(.exchange, .quota) { [seen, clock] request, next in
            var request = request
            let now = clock.now.offset
            request.context[Arrival.self] = now
            request.context[ArrivalNumber.self] = seen.withLock { seen in
                seen.arrivals.append(now)
                return seen.arrivals.count - 1
            }
            return try await next(request)
        }
    }

    private var insideQuota: Lookout {
        Lookout(.exchange, .quota) { [seen, clock, limit] request, next in
            let now = clock.now.offset
            let queued = limit.states[Self.key]?.queued ?? 0
            seen.withLock { seen in
                seen.queued = max(seen.queued, queued)
                seen.sent.append(now)
                seen.passes[request.context[ArrivalNumber.self]] = now
                seen.longestQuotaWait = max(seen.longestQuotaWait, now - request.context[Arrival.self])
            }
            return try await next(request)
        }
    }

    private var innermost: Lookout {
        Lookout(.exchange) { [seen, limit] request, next in
            let state = limit.states[Self.key]
            seen.withLock { seen in
                seen.now += 1
                seen.sends += 1
                seen.most = max(seen.most, seen.now)
                seen.queued = max(seen.queued, state?.queued ?? 0)
                // Nothing waits or returns between the permit and here.
                if let state, state.inFlight > state.limit, seen.now > state.inFlight { seen.excess += 1 }
                if next.isHedge { seen.hedges += 1 }
                if next.isHedge, !request.method.isSafe { seen.unsafeHedges += 1 }
                if !next.isHedge { seen.exchanges[request.id, default: 0] += 1 }
                seen.open[request.id, default: 0] += 1
                seen.mostOpen = max(seen.mostOpen, seen.open[request.id] ?? 0)
            }
            defer {
                seen.withLock { seen in
                    seen.now -= 1
                    seen.open[request.id, default: 0] -= 1
                }
            }
            do {
                let response = try await next(request)
                if response.status.code >= 429 { seen.withLock { $0.failures += 1 } }
                return response
            } catch {
                if error is HTTPError { seen.withLock { $0.failures += 1 } }
                throw error
            }
        }
    }
}

/// What was seen in a world: all parts at once, a server that fails in some way, users that give up at any moment.
@available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
struct World {
    let seed: UInt64
    let seconds: Int
    let report: SimulationReport
    let inhabitants: [Inhabitant]
    let clients: [HTTPClient]
    let calls: Int
    let openBodies: Int
    let isTraced: Bool

    init(seed: UInt64, calls: Int = 200) async throws {
        self.seed = seed
        let random = SimulatedRandom(seed: seed &* 7_919)
        let effects: [Incidents.Effect] = [
            .slower(20), .errors(0.9, status: 503), .errors(0.5, status: 429), .loss(0.5), .unreachable, .cold(30), .slower(3),
            .fault(.disconnect(.insideBody(afterBytes: 3)), share: 0.7), .fault(.stall(.insideBody(afterBytes: 3)), share: 0.5),
        ]
        let effect = effects[Int(random.next() % UInt64(effects.count))]
        let second = effects[Int(random.next() % UInt64(effects.count))]
        // In every eighth world nothing goes wrong but for the users' patience.
        let isHealthy = seed % 8 == 7
        let load = isHealthy ? 20 : 20 + Double(random.next() % 80)
        // The last seconds are good ones.
        let seconds = Int(Double(calls) / load) + 5
        let inhabitants = Locked<[(Inhabitant, HTTPClient)]>([])
        let bodies = Locked(0)
        let serial = Locked(0)
        let made = Locked(0)
        let isTraced = seed % 2 == 0
        let report = try await Simulation(seed: seed) { world in
            let inhabitant = Inhabitant(world, SimulatedRandom(seed: random.next()))
            let chaos = Chaos(
                seed: seed, rules: [.init(.error(.connectionLost), share: isHealthy ? 0 : 0.01)], isEnabled: true)
            let client = inhabitant.client(world, isTraced: isTraced, chaos: chaos)
            inhabitants.withLock { $0.append((inhabitant, client)) }
            return client
        } server: {
            ServerModel(
                workers: isHealthy ? 100 : 4,
                service: isHealthy
                    ? .constant(.milliseconds(100)) : .lognormal(median: .milliseconds(30), p99: .milliseconds(300)),
                queue: seed % 2 == 0 ? .bounded(20) : .unbounded
            ) { request in
                let number = serial.increment()
                bodies.withLock { $0 += 1 }
                let text = "\(request.urlText) \(request.headers[.authorization] ?? "") \(number)"
                let body = TrackedBody(Array(text.utf8)) { bodies.withLock { $0 -= 1 } }
                return HTTPResponse(status: 200, body: .incoming(body), request: request)
            }
        } load: {
            let calls = SimulatedLoad.poisson(perSecond: load).clients(1 + Int(seed % 3))
                .patience(.exponential(mean: .milliseconds(400)))
            return (seed % 3 == 0 ? calls.streamed() : calls).requests { number in
                made.withLock { $0 = number + 1 }
                let mixed = SimulatedRandom(seed: seed &+ UInt64(number))
                let user = "Bearer \(mixed.next() % 2)"
                // Numbers are unique, so that calls can be told apart, and don't count for coalescing.
                var request = HTTPRequest(
                    mixed.next() % 10 == 0 ? .post : .get, "https://server.test/\(mixed.next() % 4)",
                    headers: ["Authorization": user, "X-Request-ID": "\(number)"])
                if mixed.next() % 8 == 0 { request.priority = .sheddable }
                return request
            }
        } during: {
            if !isHealthy {
                .from(1, to: 2, effect)
                    .from(2, to: 2.5, second)
            }
        }.run(for: .seconds(seconds))
        self.seconds = seconds
        self.report = report
        self.inhabitants = inhabitants.withLock { $0.map(\.0) }
        clients = inhabitants.withLock { $0.map(\.1) }
        self.calls = made.withLock { $0 }
        openBodies = bodies.withLock { $0 }
        self.isTraced = isTraced
    }
}
