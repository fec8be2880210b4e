/// A bucket of tokens, of which each request takes one: it fills at a rate, up to a burst. The server's limits bound it further.
struct TokenBucket: Sendable {
    enum Decision: Sendable, Equatable {
        /// The request is sent after so many nanoseconds; 0: now.
        case sends(after: Int64)
        /// The wait would be too long.
        case refuses(wait: Int64)
    }

    private static let second = 1_000_000_000.0
    /// The longest time for which one response can stop all requests: after a day one finds out.
    private static let longestSilence: Int64 = 86_400_000_000_000
    /// The lowest rate that one response can set: a token in that time.
    private static let lowestRate = second / Double(longestSilence)

    /// Tokens a second; nil: as many as the server lets.
    private let givenRate: Double?
    private let givenBurst: Double
    private let isAdaptive: Bool
    /// The rate that throttling starts from where neither a rate nor the server's policy applies; nil: none.
    private let ceiling: Double?

    private var tokens: Double
    private var filled: Int64?
    /// The server's policy, in place of a rate that isn't given.
    private var policy: RateLimitFields.Policy?
    /// The rate while requests are throttled; nil: they aren't.
    private var slowed: (rate: Double, lastGood: Double)?
    /// When the rate was halved for the last time.
    private var slowedAt = Int64.min
    /// Nothing is sent before this.
    private var quietUntil = Int64.min
    /// The number of requests that the server has left, until when that holds, when it was said, and when the exchange began that
    /// said it.
    private var left: (count: Int, until: Int64, said: Int64, begun: Int64)?

    init(rate: Double?, burst: Double, isAdaptive: Bool, ceiling: Double? = nil) {
        givenRate = rate.map { min(max(1e-9, $0), 1e9) }
        self.ceiling = ceiling.map { min(max(1e-9, $0), 1e9) }
        givenBurst = min(max(1, burst), 1e9)
        self.isAdaptive = isAdaptive
        tokens = givenBurst
    }

    /// The present rate; nil: none is known.
    var rate: Double? { slowed?.rate ?? givenRate ?? policy.map { max($0.rate, Self.lowestRate) } }

    private var burst: Double { givenRate == nil ? policy.map { Double($0.quota) } ?? givenBurst : givenBurst }

    /// Whether it equals a new one.
    mutating func isFull(at now: Int64) -> Bool {
        fill(at: now)
        return tokens >= burst && slowed == nil && quietUntil <= now && left.map { $0.until <= now } ?? true
    }

    /// Takes a token, which may be one that is still to come, within so many nanoseconds.
    mutating func reserve(at now: Int64, waitingAtMost most: Int64) -> Decision {
        fill(at: now)
        if let left, left.until <= now { self.left = nil }
        var wait = silence(at: now)
        var later = self
        // However long nothing is sent, no more than the burst is there afterwards.
        if wait > 0 { later.fill(at: now &+ wait) }
        if let rate = later.rate, later.tokens < 1 {
            let filled = min((later.filled ?? now) &- now, Self.longestSilence)
            wait = max(wait, filled) + Int64(min((1 - later.tokens) / rate * Self.second, 1e18))
        }
        guard wait <= most else { return .refuses(wait: wait) }
        self = later
        spend()
        return .sends(after: wait)
    }

    /// Takes the token of a request that has waited for it.
    mutating func take(at now: Int64) {
        fill(at: now)
        spend()
    }

    /// Gives back the token that would have come last.
    mutating func giveBack() {
        left?.count += 1
        if rate != nil { tokens = min(burst, tokens + 1) }
    }

    /// Gives back one of what the server has left, unless it has said that since the request was sent: then it is without that already.
    mutating func giveBackLeft(takenAt taken: Int64) -> Bool {
        guard let said = left?.said, said <= taken else { return false }
        left?.count += 1
        return true
    }

    /// Applies the limits of a response, and for how many nanoseconds the server wants to be left alone.
    ///
    /// - Parameter begun: When its exchange was begun. That more is left is believed of no answer to an
    ///   earlier request than the one that told of less.
    mutating func learn(
        _ said: RateLimitFields.Limit, retryAfter: Int64?, isThrottled: Bool, begunAt begun: Int64, at now: Int64
    ) {
        if givenRate == nil, ceiling == nil, let new = said.policy, new != policy {
            fill(at: now)
            if policy == nil { tokens = Double(new.quota) }
            policy = new
        }
        if let count = said.left, let seconds = said.seconds,
            left.map({ $0.begun <= begun || count < $0.count || $0.until <= now }) ?? true
        {
            left = (count, now &+ min(Int64(seconds) * 1_000_000_000, Self.longestSilence), now, begun)
        }
        guard isThrottled else { return }
        // It takes precedence over the fields.
        if let retryAfter {
            quietUntil = max(quietUntil, now &+ min(retryAfter, Self.longestSilence))
            left = nil
        }
        // Once for all that were under way.
        guard isAdaptive, begun >= slowedAt else { return }
        slowedAt = now
        fill(at: now)
        if let rate = rate ?? ceiling { slowed = (max(rate / 2, 1e-9), slowed?.lastGood ?? rate) }
    }

    /// Whether so many who wait are sent at the same times as by another one: by the same rate alone.
    func sends(_ waiting: Int, as other: TokenBucket) -> Bool {
        rate == other.rate && burst == other.burst && quietUntil == other.quietUntil
            && (left?.count ?? .max) >= waiting && (other.left?.count ?? .max) >= waiting
    }

    /// Takes over how many requests the server has left, without those who wait.
    mutating func takeLeft(of other: TokenBucket, without waiting: Int) {
        left = other.left
        left?.count -= waiting
    }

    /// For how long the server wants no more requests.
    private func silence(at now: Int64) -> Int64 {
        var end = quietUntil
        if let left, left.count <= 0 { end = max(end, left.until) }
        return end > now ? end &- now : 0
    }

    private mutating func spend() {
        if rate != nil { tokens -= 1 }
        left?.count -= 1
    }

    private mutating func fill(at now: Int64) {
        guard let last = filled else { return filled = now }
        guard now > last else { return }
        let seconds = (Double(now) - Double(last)) / Self.second
        filled = now
        if let rate { tokens = min(burst, tokens + seconds * rate) }
        if let (present, lastGood) = slowed {
            let next = present + 0.1 * lastGood * seconds
            slowed = next >= lastGood ? nil : (next, lastGood)
        }
    }
}
