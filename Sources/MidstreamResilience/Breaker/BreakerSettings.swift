/// What a circuit breaker goes by.
struct BreakerSettings: Sendable, Hashable {
    var failureRatio: Double
    var slowerThan: Duration?
    var slowRatio: Double
    var minimum: Int
    var window: Duration
    var breakFor: Duration
    var longestBreak: Duration
    var probes: Int
}
