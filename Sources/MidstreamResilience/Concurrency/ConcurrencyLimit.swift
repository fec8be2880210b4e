public import Interception
public import MidstreamCore

/// Bounds how many requests are under way at once, so that a server that becomes slow isn't buried under what it can't answer.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { ConcurrencyLimit() }
/// ```
///
/// Each exchange takes a permit, and gives it back when the response's body has been read to its end, is closed or is released. When there
/// is none it waits in the queue, if that has a place, or fails at once with ``HTTPError/Code/overloaded``, which
/// isn't retried. An adaptive limit learns from how long the heads of responses take, so a long body isn't slowness.
///
/// It stands inside the cache, whose hits need no permit, and serves any number of tasks at once.
public final class ConcurrencyLimit: HTTPInterceptor {
    /// How many requests may be under way.
    public struct Limit: Sendable, Hashable, CustomStringConvertible {
        enum Kind: Sendable, Hashable {
            case fixed(Int)
            case adaptive(start: Int, range: ClosedRange<Int>)
        }

        let kind: Kind

        /// Always so many; at least 1.
        public static func fixed(_ count: Int) -> Limit { Limit(kind: .fixed(count)) }

        /// As many as the server takes without becoming slow.
        ///
        /// Twice a second it grows by about its square root while answers come as fast as usual, and shrinks in proportion as they become
        /// slower. A timeout, a broken connection, a 429 or a 503 takes a tenth of it at once, once for all that were under way then. It doesn't grow
        /// while less than half of it is used.
        ///
        /// - Parameters:
        ///   - start: Where it begins.
        ///   - range: Within which it stays; from 1 on.
        public static func adaptive(start: Int = 20, in range: ClosedRange<Int> = 4...200) -> Limit {
            Limit(kind: .adaptive(start: start, range: range))
        }

        /// ``adaptive(start:in:)`` with its defaults.
        public static let adaptive = adaptive()

        /// Such as `adaptive in 4...200` or `at most 50`.
        public var description: String {
            switch kind {
            case .fixed(let count): "at most \(max(1, count))"
            case .adaptive(_, let range): "adaptive in \(range)"
            }
        }
    }

    /// Where a key stands.
    public struct State: Sendable, Hashable {
        /// How many requests may be under way now.
        public let limit: Int
        /// How many are.
        public let inFlight: Int
        /// How many wait.
        public let queued: Int
    }

    private let limit: Limit
    private let places: Int
    private let table: ScopeTable<Permits>
    private let time = Timekeeper()

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - limit: How many; adaptive from 20 on, 4 to 200, by default.
    ///   - queue: How many more may wait, until the attempt's timeout and the call's deadline; none by default, since waiting only helps
    ///     where load comes in short bursts. When more than half of it is taken, those who came last are served first.
    ///   - scope: Which requests share a limit; those to one origin by default.
    public init(_ limit: Limit = .adaptive, queue: Int = 0, scope: ResilienceScope = .origin) {
        self.limit = limit
        places = max(0, queue)
        table = ScopeTable(scope) { Permits($0, limit, queue: queue) }
    }

    /// `.exchange`: a redirect to another origin is that origin's matter.
    public var stage: InterceptorStage { .exchange }
    /// `.concurrency`
    public var rank: InterceptorRank { .concurrency }

    /// Where each key stands.
    public var states: [String: State] {
        Dictionary(uniqueKeysWithValues: table.all.map { ($0.key, State($0.state.snapshot)) })
    }

    /// Where each key stands, and how long half of its answers took, and 95 of 100.
    func reports(on clock: any Clock<Duration>) -> [(key: String, state: State, p50: Duration?, p95: Duration?)] {
        let now = time.now(on: clock)
        return table.all.map { ($0, State($1.snapshot), $1.quantile(0.5, at: now), $1.quantile(0.95, at: now)) }
    }

    /// Takes a permit, sends the request on, and sees to it that the permit comes back.
    ///
    /// - Throws: ``HTTPError/Code/overloaded`` when there is no permit and no place in the queue, or none came in time.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let permits = table.state(for: request) { time.now(next) }
        let isHedge = request.isHedge
        switch permits.enter(isSheddable: isHedge || request.isSheddable, mayWait: !isHedge) {
        case .granted: break
        case .waits(let waiter): try await wait(waiter, for: permits, request, next)
        case .refused(let inFlight, let limit, let queued):
            throw refusal(permits, request, next, (inFlight, limit, queued))
        }
        let start = time.now(next)
        let response: HTTPResponse
        do {
            response = try await next(request)
        } catch {
            failed(error, permits, since: start, request, next)
            throw error
        }
        let outcome = ExchangeOutcome.answered(response.status)
        if outcome.isTooMuch { lower(permits, outcome, since: start, request, next) }
        let now = time.now(next)
        let latency = outcome.isTooMuch ? nil : now &- start
        // Any other body is whole already.
        guard response.isWhole else {
            if let latency { permits.answered(after: latency, at: now) }
            return Self.watched(response, for: permits)
        }
        permits.leave(answeredAfter: latency, at: now)
        return response
    }

    /// Apart, as is whatever else isn't the rule: what it needs all exchanges would have to keep while they wait.
    @inline(never)
    private func failed(
        _ error: any Error, _ permits: Permits, since start: Int64, _ request: HTTPRequest,
        _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        let outcome = ExchangeOutcome(error, in: next.call)
        // Cancelled losers of a hedge, refusals and the like say nothing.
        if outcome.isTooMuch { lower(permits, outcome, since: start, request, next) }
        permits.leave()
    }

    /// A response whose permit comes back when its body has ended.
    @inline(never)
    private static func watched(_ response: HTTPResponse, for permits: Permits) -> HTTPResponse {
        var response = response
        response.body = response.body.observed { _ in
        } onEnd: { _ in
            permits.leave()
        }
        return response
    }

    /// Says where the limit stands.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        let state = table.state(for: request) { time.now(ChainPosition.current?.call) }.snapshot
        let queue = places > 0 ? ", \(state.queued) of \(places) wait" : ""
        return .known("\(limit); \(state.inFlight) of \(state.limit) under way\(queue)")
    }

    private func wait(
        _ waiter: Permits.Waiter, for permits: Permits, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws {
        let start = time.now(next)
        let clock = next.call?.stopwatch.clock ?? ContinuousClock()
        let isGranted: Bool
        do {
            isGranted = try await TimeLimit(next.timeLeft, on: clock).run { _ in
                HTTPError(.overloaded, "", request: request, phase: .notSent)
            } _: {
                try await permits.wait(waiter)
            }
        } catch {
            permits.abandon(waiter)
            guard error is HTTPError else { throw error }
            let state = permits.snapshot
            throw refusal(
                permits, request, next, (state.inFlight, state.limit, state.queued), after: time.now(next) &- start)
        }
        let waited = time.now(next) &- start
        guard isGranted else {
            let state = permits.snapshot
            throw refusal(permits, request, next, (state.inFlight, state.limit, state.queued), after: waited)
        }
        next.position.record(
            { .concurrencyWait(key: permits.key, wait: .nanoseconds(waited)) }, about: request)
    }

    @inline(never)
    private func refusal(
        _ permits: Permits, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>,
        _ state: (inFlight: Int, limit: Int, queued: Int), after waited: Int64? = nil
    ) -> HTTPError {
        next.position.record(
            {
                .overloaded(
                    key: permits.key, inFlight: state.inFlight, limit: state.limit, queued: state.queued)
            }, about: request)
        var text = "\(state.inFlight) requests to \(permits.key) are under way, of \(state.limit) that may be"
        if state.queued > 0 { text += ", and \(state.queued) wait" }
        if let waited { text += "; waited \(Duration.nanoseconds(waited).brief)" }
        if request.isSheddable { text += "; this one is sheddable and leaves a tenth to others" }
        return HTTPError(
            .overloaded, "\(text). Send fewer at once, or later; a queue smooths short bursts.", request: request, phase: .notSent
        )
    }

    @inline(never)
    private func lower(
        _ permits: Permits, _ outcome: ExchangeOutcome, since start: Int64, _ request: HTTPRequest,
        _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        guard let change = permits.failed(begunAt: start, at: time.now(next)) else { return }
        next.position.record(
            {
                .limitLowered(
                    key: permits.key, before: change.before, after: change.after, reason: outcome.summary)
            }, about: request)
    }
}

extension ConcurrencyLimit.State {
    init(_ snapshot: Permits.Snapshot) {
        self.init(limit: snapshot.limit, inFlight: snapshot.inFlight, queued: snapshot.queued)
    }
}

extension ExchangeOutcome {
    /// Whether it says that the server has more to do than it can.
    fileprivate var isTooMuch: Bool {
        switch self {
        case .answered(let status): status == .tooManyRequests || status == .serviceUnavailable
        case .timedOut, .broken(.connection), .broken(.connectionLost): true
        case .broken, .none: false
        }
    }
}

extension ConcurrencyLimit: ImpersonalInterceptor, PunctualInterceptor, SecludedInterceptor {
    package var isSecluded: Bool { !table.asksSomebody }
}
