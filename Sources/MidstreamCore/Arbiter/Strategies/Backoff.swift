/// How the delays before successive retries grow.
enum Backoff: Sendable {
    case constant(Duration)
    case exponential(base: Duration, multiplier: Double, cap: Duration, jitter: RetryStrategy.Jitter)
    case fibonacci(unit: Duration, cap: Duration)

    /// The delay before a retry; see ``RetryStrategy/delay(beforeRetry:previous:of:random:)``.
    func delay(beforeRetry retry: Int, previous: Duration?, random: () -> Double) -> Duration {
        switch self {
        case .constant(let delay):
            return max(.zero, min(delay, .largest))
        case .exponential(let givenBase, let multiplier, let givenCap, let jitter):
            // Longer ones could overflow where they are multiplied or added up.
            let (base, cap) = (min(max(.zero, givenBase), .largest), min(max(.zero, givenCap), .largest))
            if jitter == .decorrelated {
                let ceiling = max(base, (previous ?? base) * 3)
                return min(cap, base + (ceiling - base) * random())
            }
            var delay = min(base, cap)
            // Growing stops at the cap, so that a large number of retries can't overflow.
            for _ in 1..<max(1, retry) where delay < cap && delay > .zero { delay = delay.times(multiplier, atMost: cap) }
            return max(.zero, jitter == .full ? delay * random() : delay)
        case .fibonacci(let unit, let givenCap):
            let cap = min(givenCap, .largest)
            var (delay, next) = (min(max(.zero, unit), .largest), min(max(.zero, unit), .largest))
            for _ in 1..<max(1, retry) where delay < cap { (delay, next) = (next, delay + next) }
            return max(.zero, min(delay, cap))
        }
    }
}

extension Duration {
    /// Can be multiplied and added up a few times, as a longer one can't.
    fileprivate static let largest = Duration.seconds(Int64.max)
}
