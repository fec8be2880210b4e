internal import MidstreamCore

/// A quantile of recent response times, recomputed now and then: that costs more than counting.
struct RunningQuantile: Sendable {
    /// After a minute without enough responses it is unknown again.
    private static let longestUse: Int64 = 60_000_000_000

    private let share: Double
    private let minimumSamples: Int
    private var latencies = Latencies()
    private var samplesAtLook = 0
    private var lookedAt: Int64 = 0
    private var found: Int64?

    /// - Parameter minimumSamples: How many responses it takes.
    init(_ share: Double, from minimumSamples: Int) {
        self.share = share
        self.minimumSamples = minimumSamples
    }

    mutating func record(_ nanoseconds: Int64, at now: Int64) {
        latencies.record(nanoseconds, at: now)
        let count = latencies.count(at: now)
        guard count >= minimumSamples else { return }
        guard abs(count - samplesAtLook) >= 16 || found == nil || now &- lookedAt >= Self.longestUse / 4 else { return }
        (samplesAtLook, lookedAt) = (count, now)
        found = latencies.quantile(share, at: now)?.wholeNanoseconds
    }

    /// In nanoseconds; nil without enough responses in the last minute.
    func value(at now: Int64) -> Int64? { now &- lookedAt < Self.longestUse ? found : nil }

    /// That of any share, computed now.
    func quantile(_ share: Double, at now: Int64) -> Duration? { latencies.quantile(share, at: now) }
}
