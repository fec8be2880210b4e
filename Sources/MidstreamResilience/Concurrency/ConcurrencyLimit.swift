public import Interception
public import MidstreamCore

/// Bounds the number of requests under way, so that a server that becomes slow isn't buried under requests that it can't answer.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { ConcurrencyLimit() }
/// ```
///
/// Each exchange holds a permit until the response's body has been read to its end, is closed or is released. Without a free permit it
/// waits in the queue, if that has a place, or fails at once with ``HTTPError/Code/overloaded``, which isn't retried. An adaptive
/// limit goes by the time until the head of a response that is streamed, and until the end of the body of any other.
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

        /// A constant number; at least 1.
        public static func fixed(_ count: Int) -> Limit { Limit(kind: .fixed(count)) }

        /// As many as the server takes without becoming slow.
        ///
        /// Twice a second it grows by about its square root while responses are as fast as usual, and shrinks in proportion as they become
        /// slower. A timeout, a broken connection, a 429 or a 503 takes a tenth of it at once, once for all requests under way. It
        /// doesn't change by that while less than half of it is used.
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

    /// The limit of a key, and how much of it is used.
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
    let table: ScopeTable<Permits>

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - limit: How many; adaptive from 20 on, 4 to 200, by default.
    ///   - queue: How many more may wait, until the attempt's timeout or the call's deadline; none by default, since waiting only helps
    ///     with short bursts. When more than half of it is taken, the last to come are served first.
    ///   - scope: Which requests share a limit; those to one origin by default.
    public init(_ limit: Limit = .adaptive, queue: Int = 0, scope: ResilienceScope = .origin) {
        self.limit = limit
        places = max(0, queue)
        table = ScopeTable(scope) { Permits($0, limit, queue: queue) }
    }

    /// `.exchange`: a redirect counts for the origin that it leads to.
    public var stage: InterceptorStage { .exchange }
    /// `.concurrency`
    public var rank: InterceptorRank { .concurrency }
    /// Its waits end in time; it serves all alike.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    /// The state of each key.
    public var states: [String: State] { Dictionary(uniqueKeysWithValues: table.all.map { ($0.key, $0.state.snapshot) }) }

    /// Sends the request on with a permit, which is held until the response's body has ended.
    ///
    /// - Throws: ``HTTPError/Code/overloaded`` when there is no permit and no place in the queue, or none came within the attempt's
    ///   timeout; ``HTTPError/Code/deadlineExceeded`` when none came by the call's deadline.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let permits = table.state(for: request, next)
        var start = table.time.now(next)
        var permit: Permits.Permit
        if let free = permits.take(isSheddable: next.isHedge || request.isSheddable, at: start) {
            permit = free
        } else {
            permit = try await wait(for: permits, request, next)
            start = table.time.now(next)
        }
        let response: HTTPResponse
        do {
            response = try await next(request)
        } catch {
            failed(error, permits, since: start, request, next)
            throw error
        }
        let outcome = ExchangeOutcome.answered(response.status)
        let now = table.time.now(next)
        if outcome.isTooMuch { lowerLimit(of: permits, after: outcome, since: start, request, next) }
        // Any other body is still to come, and the permit with it; a connection for another protocol isn't a request any more.
        guard response.isWhole || response.status.code == 101 else {
            if !outcome.isTooMuch { permits.answered(after: now &- start, at: now) }
            return Self.holding(permit, until: response)
        }
        if !outcome.isTooMuch { permit.answered(after: now &- start, at: now) }
        return response
    }

    /// The limit, and how much of it is used.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        let state = table.peek(for: request).snapshot
        let queue = places > 0 ? ", \(state.queued) of \(places) wait" : ""
        return .known("\(limit); \(state.inFlight) of \(state.limit) under way\(queue)")
    }

    private func wait(
        for permits: Permits, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws -> Permits.Permit {
        // A hedge that has to wait is of no use.
        guard !next.isHedge, let waiter = permits.enqueue(isSheddable: request.isSheddable) else {
            throw refusal(permits, request, next)
        }
        let start = table.time.now(next)
        let ending = await waiter.suspension.wait(for: next.timeLeft, on: next.timer)
        let permit = permits.leave(waiter)
        if let error = next.position.error(of: ending, phase: .notSent) {
            // That the attempt's time is over is for the limit to explain, unless nobody waits any more.
            if (error as? HTTPError)?.code != .timeout { throw error }
            if case .cancelled = ending { throw CancellationError() }
        }
        let waited = Duration.nanoseconds(table.time.now(next) &- start)
        guard let permit else {
            throw refusal(permits, request, next, after: waited)
        }
        next.position.record({ .concurrencyWait(key: permits.key, wait: waited) }, about: request)
        request.noteWait(of: waited.wholeNanoseconds)
        return permit
    }

    /// Not inlined, like the other exceptions to the rule, so that its locals aren't part of the frame that waits for the response.
    @inline(never)
    private func failed(
        _ error: any Error, _ permits: Permits, since start: Int64, _ request: HTTPRequest,
        _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        lowerLimit(of: permits, after: ExchangeOutcome(error), since: start, request, next)
    }

    @inline(never)
    private func lowerLimit(
        of permits: Permits, after outcome: ExchangeOutcome, since start: Int64, _ request: HTTPRequest,
        _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        // Cancelled hedges, refusals and the like carry no signal about load.
        guard outcome.isTooMuch, let change = permits.failed(begunAt: start, at: table.time.now(next)) else { return }
        next.position.record(
            {
                .limitLowered(
                    key: permits.key, before: change.before, after: change.after, reason: outcome.summary)
            }, about: request)
    }

    /// The response with a body that holds the permit until its end, or until nothing refers to it any more.
    @inline(never)
    private static func holding(_ permit: consuming Permits.Permit, until response: HTTPResponse) -> HTTPResponse {
        final class Holder: Sendable {
            let permit: Permits.Permit
            init(_ permit: consuming Permits.Permit) { self.permit = permit }
        }
        let holder = Locked<Holder?>(Holder(permit))
        var response = response
        response.body = response.body.observed { _ in
        } onEnd: { _ in
            // Released after the lock.
            _ = holder.withLock { $0.take() }
        }
        return response
    }

    private func refusal(
        _ permits: Permits, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>, after waited: Duration? = nil
    ) -> HTTPError {
        let state = permits.snapshot
        next.position.record({ .overloaded(key: permits.key, state: state) }, about: request)
        var text = "\(state.inFlight) requests to \(permits.key) are under way, of \(state.limit) that may be"
        if state.queued > 0 { text += ", and \(state.queued) wait" }
        if let waited { text += "; waited \(waited.brief)" }
        let kind: String? = next.isHedge ? "a hedge" : request.isSheddable ? "sheddable" : nil
        if let kind { text += "; this one is \(kind) and leaves a tenth, one permit at least, to others" }
        return HTTPError(
            .overloaded, "\(text). Send fewer at once, or later; a queue smooths short bursts.", request: request, phase: .notSent
        )
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
