/// Decides when requests may be sent. One in this process keeps a bucket; one that asks others could keep it elsewhere.
protocol Quota: Sendable {
    /// Takes a place in the order of requests.
    ///
    /// - Parameter most: How long it may wait, in nanoseconds.
    /// - Returns: How long it has to wait, or that this would be longer.
    mutating func reserve(at now: Int64, waitingAtMost most: Int64) -> QuotaDecision
    /// The place that was taken last.
    var lastPlace: UInt64 { get }
    /// Gives a place back that wasn't used.
    mutating func giveBack(_ place: UInt64)
    /// Takes in what a response says.
    mutating func learn(_ fields: RateLimitFields, retryAfter: Int64?, isThrottled: Bool, at now: Int64)
}

/// What a quota says to a request.
enum QuotaDecision: Sendable, Equatable {
    /// It is sent after so many nanoseconds; 0: now.
    case sends(after: Int64)
    /// It would have to wait for so many, which is too long.
    case refuses(wait: Int64)
}
