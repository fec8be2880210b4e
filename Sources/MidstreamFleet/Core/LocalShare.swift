internal import MidstreamResilience

/// A member's part of a quota. Times are in microseconds.
struct LocalShare {
    /// Of which quota it is: all of the member's clients that use one take from the same share.
    struct Place: Hashable {
        let quota: String
        let key: String
    }

    /// The quota's in the store.
    let name: String
    var interval = 1.0
    var burst = 1.0
    /// When the last token of those that are taken comes.
    private var taken: Double
    /// Until when the places may be given back that were reserved here, of which the store needn't know: until the last of them has come, and
    /// a while longer, in which its request may be refused.
    private var aloneUntil = -Double.infinity
    /// How long after it was taken a place of a refused request is given back, in microseconds.
    private static let longestUse = 1e6

    init(_ name: String, at now: Double) { (self.name, taken) = (name, now) }

    func isTaken(at now: Double) -> Bool { taken > now }

    mutating func reserve(at now: Double, waitingAtMost longest: Duration) -> QuotaDecision {
        let new = max(taken, now) + interval
        // A fraction of a microsecond may be all that is left by the rounding of large numbers.
        let wait = (new - burst * interval - now).rounded()
        guard wait <= longest / .microseconds(1) else { return .refuses(wait: .microseconds(wait)) }
        taken = new
        aloneUntil = max(aloneUntil, now + max(0, wait) + Self.longestUse)
        return .sends(after: .microseconds(max(0, wait)))
    }

    /// A request that the store has let in. It may be more than the share, which is used up then, and no more.
    mutating func note(at now: Double) { taken = min(max(taken, now) + interval, max(taken, now + burst * interval)) }

    /// - Returns: Whether the store is told. It isn't while the place may be one that was reserved here: the store would give back another's.
    mutating func giveBack(at now: Double) -> Bool {
        taken = max(now, taken - interval)
        return now > aloneUntil
    }

    mutating func drain(at now: Double, wait: Duration) {
        taken = max(taken, now + wait / .microseconds(1) + (burst - 1) * interval)
    }
}
