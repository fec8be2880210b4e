/// Finds out how many requests a server takes at once, from how long it takes to answer.
///
/// While answers come as fast as they usually do the limit grows by its square root, twice a second; as they become slower it shrinks
/// in proportion. What isn't answered takes a tenth of it at once, but not for each of the many that were begun before it was
/// taken: they tell of the same trouble, and a limit at its lowest would take long to come back.
struct AdaptiveLimit: Sendable {
    private static let window: Int64 = 500_000_000
    private static let minimumSamples = 5
    private static let longWindows = 600.0

    /// As many as may be under way; the whole part counts.
    private(set) var value: Double { didSet { whole = Int(value) } }
    /// The whole part.
    private(set) var whole: Int
    private let range: ClosedRange<Double>

    private var windowStart: Int64?
    private var sum = 0.0
    private var count = 0
    private var peak = 0
    private var windows = 0.0
    /// When the limit was lowered last because of a failure.
    private var lowered = Int64.min
    /// How long answers usually take, in nanoseconds.
    private(set) var usual = 0.0

    init(start: Int, in range: ClosedRange<Int>) {
        // More than this isn't limited, and has room in either kind of number.
        let most = 1_000_000_000
        self.range = Double(min(max(1, range.lowerBound), most))...Double(min(max(1, range.upperBound), most))
        value = min(max(Double(start), self.range.lowerBound), self.range.upperBound)
        whole = Int(value)
    }

    /// The head of a response is there.
    ///
    /// - Parameters:
    ///   - time: After so many nanoseconds.
    ///   - inFlight: How many were under way, itself included.
    mutating func answered(after time: Int64, inFlight: Int, at now: Int64) {
        sum += Double(max(0, time))
        count += 1
        peak = max(peak, inFlight)
        guard let start = windowStart else { return windowStart = now }
        if now &- start >= Self.window, count >= Self.minimumSamples { closeWindow(at: now) }
    }

    /// There was no answer in time, the connection broke, or the server said that it has too much to do.
    ///
    /// - Parameter start: When the request was begun.
    /// - Returns: Whether the limit has changed.
    mutating func failed(begunAt start: Int64, at now: Int64) -> Bool {
        guard start >= lowered else { return false }
        lowered = now
        let before = value
        value = max(range.lowerBound, value * 0.9)
        return value < before
    }

    private mutating func closeWindow(at now: Int64) {
        let recent = sum / Double(count)
        windows = min(windows + 1, Self.longWindows)
        usual += (recent - usual) / windows
        // A lasting overload would otherwise come to be what is usual, and its end not be noticed.
        if usual > 2 * recent { usual *= 0.95 }
        let gradient = recent > 0 ? min(max(1.5 * usual / recent, 0.5), 1) : 1
        let target = value * gradient + max(2, value.squareRoot())
        // Only what slows down is smoothed: after an outage each second of growing counts.
        var next = gradient < 1 ? 0.8 * value + 0.2 * target : target
        // What isn't used says nothing about how much more there could be.
        if Double(peak) < value / 2 { next = min(next, value) }
        value = min(max(next, range.lowerBound), range.upperBound)
        (sum, count, peak, windowStart) = (0, 0, 0, now)
    }
}
