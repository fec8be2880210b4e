internal import MidstreamCore

/// The time within which a share of the answers came lately, looked up now and then: that takes longer than counting.
struct RunningQuantile: Sendable {
    private let share: Double
    private let minimumSamples: Int
    private var latencies = Latencies()
    private var samplesAtLook = 0

    /// In nanoseconds; nil until there were enough answers.
    private(set) var value: Int64?

    /// - Parameter minimumSamples: How many answers there have to be.
    init(_ share: Double, from minimumSamples: Int) {
        self.share = share
        self.minimumSamples = minimumSamples
    }

    mutating func record(_ nanoseconds: Int64, at now: Int64) {
        latencies.record(nanoseconds, at: now)
        let count = latencies.count
        guard count >= minimumSamples, abs(count - samplesAtLook) >= 16 || value == nil else { return }
        samplesAtLook = count
        if let found = latencies.quantile(share) { value = found.wholeNanoseconds }
    }

    /// Of any share, as it is now.
    func quantile(_ share: Double) -> Duration? { latencies.quantile(share) }
}
