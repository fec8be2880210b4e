public import Interception
public import MidstreamCore

/// Refuses requests to a server that fails, so that neither side spends time on requests that won't succeed.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { CircuitBreaker() }
/// ```
///
/// It opens when half of at least 20 exchanges within 10 s have failed, refuses everything for 5 s
/// (``HTTPError/Code/circuitOpen``, which isn't retried), and then lets one request through at a time, or another when that has taken
/// longer than the break, to see whether the server has recovered: three good ones close it, a bad one opens it for twice as long.
///
/// A failure is an exchange without a response, with a 5xx or a 429. Other statuses are successes; cancelled requests and those
/// refused on this side count as neither. It stands inside the cache, whose hits are served while it is open, and counts each hop of a
/// redirect for the hop's origin.
///
/// Give one instance to each client: all clients that use it share its state, and need the same clock.
public final class CircuitBreaker: HTTPInterceptor {
    /// Whether requests are let through.
    public enum State: Sendable, Hashable, CustomStringConvertible {
        /// They are.
        case closed
        /// They aren't, for so long.
        case open(for: Duration)
        /// One at a time is, to see how it ends.
        case halfOpen
        /// They aren't until ``CircuitBreaker/close(_:)``.
        case isolated

        /// `closed`, `open`, `half open`, `isolated`
        public var name: String {
            switch self {
            case .closed: "closed"
            case .open: "open"
            case .halfOpen: "half open"
            case .isolated: "isolated"
            }
        }

        /// The name, and how long it is open: `open for 3.2 s`.
        public var description: String {
            if case .open(let left) = self { "open for \(left.brief)" } else { name }
        }
    }

    private let settings: BreakerSettings
    let table: ScopeTable<Circuit>
    /// Whether all circuits are isolated, including those made later.
    private let isIsolated: Locked<Bool>
    private let onChange: (@Sendable (CallEvent) -> Void)?

    /// Makes a breaker, closed.
    ///
    /// - Parameters:
    ///   - scope: Which requests it judges together; those to one origin by default.
    ///   - failureRatio: The share of failures, from which on it opens; 0.5 by default.
    ///   - slowerThan: An exchange that takes longer, without its waits in a ``RateLimit`` or ``ConcurrencyLimit``, is slow: until the
    ///     head of a response that is streamed, until the end of the body of any other; nil, the default: none is.
    ///   - slowRatio: The share of slow ones from which on it opens; 0.5 by default.
    ///   - minimum: Below so many exchanges in the window it doesn't open; 20 by default.
    ///   - window: How far back exchanges count, to a tenth; 10 s by default.
    ///   - breakFor: How long it stays open, a tenth more or less; 5 s by default. A `Retry-After` of the answer that opens it makes that
    ///     longer, up to `longestBreak`.
    ///   - longestBreak: The longest that doubling makes of it; 60 s by default.
    ///   - probes: How many good exchanges close it; 3 by default.
    ///   - onChange: Called with each change of a state, in the task that causes it.
    public init(
        scope: ResilienceScope = .origin, failureRatio: Double = 0.5, slowerThan: Duration? = nil, slowRatio: Double = 0.5,
        minimum: Int = 20, window: Duration = .seconds(10), breakFor: Duration = .seconds(5),
        longestBreak: Duration = .seconds(60), probes: Int = 3,
        onChange: (@Sendable (CallEvent) -> Void)? = nil
    ) {
        let settings = BreakerSettings(
            failureRatio: failureRatio, slowerThan: slowerThan, slowRatio: slowRatio, minimum: max(1, minimum), window: window,
            breakFor: breakFor, longestBreak: max(breakFor, longestBreak), probes: max(1, probes))
        self.settings = settings
        let isIsolated = Locked(false)
        self.isIsolated = isIsolated
        table = ScopeTable(scope) { Circuit($0, settings, isIsolated: isIsolated.withLock { $0 }) }
        self.onChange = onChange
    }

    /// `.exchange`: each hop of a redirect counts for its own origin.
    public var stage: InterceptorStage { .exchange }
    /// `.breaker`
    public var rank: InterceptorRank { .breaker }
    /// It waits for nothing of its own, and serves all alike.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    /// The state of a key, such as `https://api.example.com`; `.closed` for an unknown one. Of a breaker with the scope `.client` any key
    /// is the one.
    ///
    /// - Parameter clock: That of the client, when it isn't the system's.
    public func state(of key: String, on clock: any Clock<Duration> = ContinuousClock()) -> State {
        table.known(key)?.publicState(at: table.time.now(on: clock)) ?? (isIsolated.withLock { $0 } ? .isolated : .closed)
    }

    /// Refuses all requests of a key until ``close(_:)``, whatever their results.
    ///
    /// - Parameter key: Such as `https://api.example.com`; nil: of all keys.
    public func isolate(_ key: String? = nil) {
        // Before the others, so that no circuit is made meanwhile that misses it.
        if key == nil { isIsolated.withLock { $0 = true } }
        for circuit in circuits(of: key, areMade: true) {
            let change = circuit.set(isIsolated: true, isAlone: key != nil)
            onChange?(change)
        }
    }

    /// Lets requests through again, and begins to count anew.
    ///
    /// - Parameter key: Such as `https://api.example.com`, which may be one of those that are all isolated, even before
    ///   there has been a request to it; nil: of all keys.
    public func close(_ key: String? = nil) {
        let isAlone = isIsolated.withLock { isIsolated in
            if key == nil { isIsolated = false }
            return isIsolated
        }
        // One may be isolated before it has been asked for.
        for circuit in circuits(of: key, areMade: isAlone) {
            let change = circuit.set(isIsolated: false, isAlone: isAlone)
            onChange?(change)
        }
    }

    /// That of a key, made where there is none if that is wanted; nil: all.
    private func circuits(of key: String?, areMade: Bool) -> [Circuit] {
        guard let key else { return table.all.map(\.state) }
        let circuit = areMade ? table.state(of: key, at: .min) : table.known(key)
        return circuit.map { [$0] } ?? []
    }

    /// Sends the request on, unless the breaker is open.
    ///
    /// - Throws: ``HTTPError/Code/circuitOpen`` when it is.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let circuit = table.state(for: request, next)
        let waits = settings.slowerThan == nil ? nil : Locked<Int64>(0)
        let start = waits == nil ? 0 : table.time.now(next)
        let pass = try circuit.admitWhenClosed() ?? admit(request, to: circuit, next)
        let response: HTTPResponse
        do {
            response = try await next(request.waits(addedTo: waits))
        } catch {
            ended(pass, .failure(error), in: circuit, since: start, waits, request, next)
            throw error
        }
        ended(pass, .success(response), in: circuit, since: start, waits, request, next)
        return response
    }

    /// Shows the breaker's state; `.answers` when it would refuse the request.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        let now = table.time.now(ChainPosition.current?.call)
        let circuit = table.peek(for: request)
        let state = circuit.publicState(at: now)
        switch state {
        case .closed: return .known("closed")
        case .halfOpen: return .known("half open: lets one request through at a time")
        case .open, .isolated: return .answers("the breaker of \(circuit.key) is \(state), would refuse")
        }
    }

    /// Not inlined, so that its locals aren't part of the frame that waits for the response.
    @inline(never)
    private func admit(
        _ request: HTTPRequest, to circuit: Circuit, _ next: Next<HTTPRequest, HTTPResponse>
    ) throws -> Circuit.Pass {
        switch circuit.admit(mayProbe: !next.isHedge, at: table.time.now(next)) {
        case .pass(let pass): return pass
        case .probe(let pass, let change):
            if let change { report(change, request, next) }
            next.position.record({ .breakerProbe(key: circuit.key) }, about: request)
            return pass
        case .refused(let state, let counts, let last):
            next.position.record({ .breakerRefused(key: circuit.key, state: state) }, about: request)
            let start = "The breaker of \(circuit.key) is \(state)"
            let text =
                switch state {
                case .isolated: "\(start); close(_:) lets requests through again."
                case .halfOpen: "\(start), and another request is finding out whether it is well again."
                case .open, .closed: "\(start): \(counts.text), last: \(last)."
                }
            throw HTTPError(.circuitOpen, text, request: request, phase: .notSent)
        }
    }

    @inline(never)
    private func ended(
        _ pass: borrowing Circuit.Pass, _ result: Result<HTTPResponse, any Error>, in circuit: Circuit,
        since start: Int64, _ waits: Locked<Int64>?, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        let outcome: ExchangeOutcome
        switch result {
        case .success(let response): outcome = .answered(response.status)
        case .failure(let error): outcome = ExchangeOutcome(error)
        }
        let now = table.time.now(next)
        var latency: Int64 = 0
        if let waited = waits?.withLock({ $0 }) {
            latency = now &- start &- waited
            // A breaker around this one has its own account.
            request.noteWait(of: waited)
        }
        // Other results don't open it, so neither number is needed.
        let owner = outcome.isFailure == true || circuit.isSlow(latency) ? next.call?.owner : nil
        let retryAfter = owner.flatMap { owner in (try? result.get())?.retryAfter(at: owner.now) }
        let change = circuit.ended(
            pass, outcome, after: latency, retryAfter: retryAfter, at: now, random: { owner?.random() ?? 0.5 })
        if let change { report(change, request, next) }
    }

    private func report(
        _ change: CallEvent, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        next.position.record({ change }, about: request)
        onChange?(change)
    }
}
