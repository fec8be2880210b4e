public import Interception
public import MidstreamCore

/// Refuses requests to a server that fails, so that neither it nor the caller spends time on what won't succeed.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { CircuitBreaker() }
/// ```
///
/// It opens when half of at least 20 exchanges within 10 s have failed, refuses everything for 5 s
/// (``HTTPError/Code/circuitOpen``, which isn't retried), and then lets one request through at a time to see
/// whether the server is well again: three good ones close it, a bad one opens it for twice as long.
///
/// A failure is an exchange without an answer, with a 5xx or a 429. Other statuses are successes; what was cancelled or refused on
/// this side counts as neither. It stands inside the cache, whose hits are served while it is open, and counts each redirect's
/// hop for that one's origin.
///
/// Give one instance to each client: what it knows is shared by all that use it.
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
    private let table: ScopeTable<Circuit>
    /// Whether all circuits are held, those that are still to be made included.
    private let isIsolated: Locked<Bool>
    private let time = Timekeeper()
    private let onChange: (@Sendable (CallEvent) -> Void)?

    /// Makes a breaker, closed.
    ///
    /// - Parameters:
    ///   - scope: Which requests it judges together; those to one origin by default.
    ///   - failureRatio: The share of failures, from which on it opens; 0.5 by default.
    ///   - slowerThan: An exchange whose head takes longer is slow; nil, the default: none is.
    ///   - slowRatio: The share of slow ones from which on it opens; 0.5 by default.
    ///   - minimum: Below so many exchanges in the window it doesn't open; 20 by default.
    ///   - window: How far back exchanges count, to a tenth; 10 s by default.
    ///   - breakFor: How long it stays open, a tenth more or less; 5 s by default. A `Retry-After` of the answer that opens it makes that
    ///     longer, up to `longestBreak`.
    ///   - longestBreak: The longest that doubling makes of it; 60 s by default.
    ///   - probes: How many good exchanges close it; 3 by default.
    ///   - onChange: Hears of each change of a state, in the task that has caused it.
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
        table = ScopeTable(scope) { Circuit($0, settings, isHeld: isIsolated.withLock { $0 }) }
        self.onChange = onChange
    }

    /// `.exchange`: each hop of a redirect counts for its own origin.
    public var stage: InterceptorStage { .exchange }
    /// `.breaker`
    public var rank: InterceptorRank { .breaker }

    /// The state of a key, such as `https://api.example.com`; `.closed` for one that it knows nothing of. Of a breaker with the scope
    /// `.client` any key is the one.
    ///
    /// - Parameter clock: That of the client, when it isn't the system's.
    public func state(of key: String, on clock: any Clock<Duration> = ContinuousClock()) -> State {
        if isIsolated.withLock({ $0 }) { return .isolated }
        return table.all.first { $0.key == key || table.isSingle }?.state.publicState(at: time.now(on: clock)) ?? .closed
    }

    /// Refuses all requests of a key until ``close(_:)``, whatever their results.
    ///
    /// - Parameter key: Such as `https://api.example.com`; nil: of all keys.
    public func isolate(_ key: String? = nil) {
        guard let key else { return holdAll(true) }
        let circuit = table.state(of: key) { .min }
        tell(circuit.isolate(), of: circuit)
    }

    /// Lets requests through again, and begins to count anew.
    ///
    /// - Parameter key: Such as `https://api.example.com`; nil: of all keys.
    public func close(_ key: String? = nil) {
        if key == nil { holdAll(false) }
        for (name, circuit) in table.all where key == nil || name == key || table.isSingle {
            tell(circuit.close(), of: circuit)
        }
    }

    /// First what those are made by that are made from now on, and then those that there are.
    private func holdAll(_ isHeld: Bool) {
        isIsolated.withLock { $0 = isHeld }
        for (_, circuit) in table.all { circuit.hold(isHeld) }
    }

    func states(on clock: any Clock<Duration>) -> [(key: String, state: State)] {
        let now = time.now(on: clock)
        return table.all.map { ($0.key, $0.state.publicState(at: now)) }
    }

    /// Sends the request on, unless the breaker is open.
    ///
    /// - Throws: ``HTTPError/Code/circuitOpen`` when it is.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let circuit = table.state(for: request) { time.now(next) }
        // Nobody asks how long it takes when none is slow.
        let start = settings.slowerThan == nil ? nil : time.now(next)
        let pass = try circuit.admitWhenClosed() ?? admit(request, to: circuit, at: start ?? time.now(next), next)
        let response: HTTPResponse
        do {
            response = try await next(request)
        } catch {
            failed(pass, error, in: circuit, since: start, request, next)
            throw error
        }
        ended(pass, .answered(response.status), in: circuit, since: start, request, next) {
            response.retryAfter(at: $0.now)
        }
        return response
    }

    /// Shows the breaker's state; `.answers` when it would refuse the request.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        let call = ChainPosition.current?.call
        let now = time.now(call)
        let circuit = table.state(for: request) { now }
        let state = circuit.publicState(at: now)
        switch state {
        case .closed: return .known("closed")
        case .halfOpen: return .known("half open: lets one request through at a time")
        case .open, .isolated: return .answers("the breaker of \(circuit.key) is \(state), would refuse")
        }
    }

    /// Apart, as is whatever else isn't the rule: what it needs all exchanges would have to keep while they wait.
    @inline(never)
    private func admit(
        _ request: HTTPRequest, to circuit: Circuit, at now: Int64, _ next: Next<HTTPRequest, HTTPResponse>
    ) throws -> Circuit.Pass {
        let (admission, change) = circuit.admit(mayProbe: !request.isHedge, at: now)
        if let change { tell(change, of: circuit, request, next) }
        switch admission {
        case .pass(let pass):
            if pass.isProbe { next.position.record({ .breakerProbe(key: circuit.key) }, about: request) }
            return pass
        case .refused(let state, let counts, let last):
            throw refusal(circuit.key, state, counts, last, request, next)
        }
    }

    @inline(never)
    private func failed(
        _ pass: Circuit.Pass, _ error: any Error, in circuit: Circuit, since start: Int64?, _ request: HTTPRequest,
        _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        ended(pass, ExchangeOutcome(error, in: next.call), in: circuit, since: start, request, next) { _ in nil }
    }

    private func ended(
        _ pass: Circuit.Pass, _ outcome: ExchangeOutcome, in circuit: Circuit, since start: Int64?,
        _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>, retryAfter: (any CallOwner) -> Duration?
    ) {
        let now = time.now(next)
        let latency = start.map { now &- $0 } ?? 0
        // Others don't open it.
        let mayOpen = outcome.isFailure == true || circuit.isSlow(latency)
        let owner = mayOpen ? next.call?.owner : nil
        let change = circuit.ended(
            pass, outcome, after: latency, retryAfter: owner.flatMap(retryAfter), at: now, random: { owner?.random() ?? 0.5 })
        if let change { tell(change, of: circuit, request, next) }
    }

    private func refusal(
        _ key: String, _ state: State, _ counts: FailureWindow.Counts, _ last: String, _ request: HTTPRequest,
        _ next: Next<HTTPRequest, HTTPResponse>
    ) -> HTTPError {
        next.position.record({ .breakerRefused(key: key, state: state) }, about: request)
        let figures =
            counts.slow > counts.failed
            ? "\(counts.slow) of \(counts.total) were slow" : "\(counts.failed) of \(counts.total) failed"
        let text =
            switch state {
            case .isolated: "The breaker of \(key) is isolated; close(_:) lets requests through again."
            case .halfOpen: "The breaker of \(key) is half open, and another request is finding out whether it is well again."
            case .open, .closed: "The breaker of \(key) is \(state): \(figures), last: \(last)."
            }
        return HTTPError(.circuitOpen, text, request: request, phase: .notSent)
    }

    @inline(never)
    private func tell(
        _ change: Circuit.Change, of circuit: Circuit, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        next.position.record({ .breakerChanged(change, of: circuit) }, about: request)
        onChange?(.breakerChanged(change, of: circuit))
    }

    private func tell(_ change: Circuit.Change, of circuit: Circuit) { onChange?(.breakerChanged(change, of: circuit)) }
}

extension CircuitBreaker: ImpersonalInterceptor, PunctualInterceptor, SecludedInterceptor {
    package var isSecluded: Bool { onChange == nil && !table.asksSomebody }
}
