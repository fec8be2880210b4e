public import Interception
public import MidstreamCore

/// Sends a request a second time when the first takes longer than most, and takes the response that comes first: a remedy for one slow
/// server of many.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { Hedging() }
/// ```
///
/// The second exchange begins when there is no response after the 95th percentile of recent response times: no head where it is
/// streamed, otherwise not the whole body. Only safe requests (RFC 9110 §9.2.1) and those with an `Idempotency-Key` are hedged, and only
/// with a body that can be sent again. Hedges are at most a twentieth of the exchanges, and two more; there is none while the
/// ``CircuitBreaker`` isn't closed, or the ``ConcurrencyLimit`` is full or has no more than its last tenth free, one permit at least.
///
/// The first response that isn't a 5xx wins, nor a 409 or 429 of the second exchange, which the first may be the reason for. The other exchange
/// is cancelled and its body closed; it counts as neither success nor failure.
///
/// Exchanges that may be hedged run in a child task, which costs a few allocations.
public final class Hedging: HTTPInterceptor {
    /// The exchanges and hedges of a key.
    public struct State: Sendable, Hashable {
        /// How many exchanges could be hedged.
        public let exchanges: Int
        /// How many second exchanges were sent.
        public let hedges: Int
        /// The time after which a second one is sent.
        public let delay: Duration
    }

    let table: ScopeTable<HedgeAccount>

    /// Makes a hedge.
    ///
    /// - Parameters:
    ///   - delay: The time after which a second exchange begins while there were fewer than 50 responses in the last half minute to minute;
    ///     1 s by default.
    ///   - percentile: The percentile of response times that takes its place from then on; 0.95 by default.
    ///   - budget: The share of the exchanges that may have a second one; 0.05 by default.
    ///   - reserve: How many more may have one; 2 by default.
    ///   - scope: Which requests share times and budget; those to one origin by default.
    public init(
        delay: Duration = .seconds(1), percentile: Double = 0.95, budget: Double = 0.05, reserve: Int = 2,
        scope: ResilienceScope = .origin
    ) {
        let delay = min(max(.zero, delay), .longest).wholeNanoseconds
        table = ScopeTable(scope) {
            HedgeAccount($0, delay: delay, percentile: percentile, minimumSamples: 50, share: budget, reserve: reserve)
        }
    }

    /// `.exchange`
    public var stage: InterceptorStage { .exchange }
    /// `.hedging`
    public var rank: InterceptorRank { .hedging }
    /// Its waits end in time; it serves all alike.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    /// The state of each key.
    public var states: [String: State] {
        let now = table.time.now
        return Dictionary(
            uniqueKeysWithValues: table.all.map {
                let (exchanges, hedges, delay) = $0.state.snapshot(at: now)
                return ($0.key, State(exchanges: exchanges, hedges: hedges, delay: .nanoseconds(delay)))
            })
    }

    /// Sends the request on, and a second time when that takes long.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard request.mayBeHedged else { return try await next(request) }
        let start = table.time.now(next)
        let account = table.state(for: request, at: start)
        let race = HedgeRace(
            account: account, time: table.time, request: request, next: next, start: start, delay: account.begin(at: start))
        return try await race.run()
    }

    /// The time after which a second exchange would begin.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        guard request.mayBeHedged else {
            return .known("none: a second \(request.isUpgrade ? "upgrade" : "\(request.method)") might do harm")
        }
        let now = table.time.now(ChainPosition.current?.call)
        let delay = Duration.nanoseconds(table.peek(for: request).snapshot(at: now).delay)
        return .known("a second exchange after \(delay.brief) without an answer")
    }
}

extension HTTPRequest {
    fileprivate var mayBeHedged: Bool {
        guard !isUpgrade, method.isSafe || headers.contains(.idempotencyKey) else { return false }
        return body.replayability == .replayable && !isSheddable
    }
}
