/// A limit on concurrency that follows the server's response times.
///
/// While responses are as fast as usual the limit grows by its square root, twice a second; as they become slower it shrinks in proportion.
/// A failure takes a tenth of it at once, but only once for all requests that were under way: they failed for the same reason, and
/// a limit at its minimum takes long to recover.
struct AdaptiveLimit: Sendable {
    private static let window: Int64 = 500_000_000
    private static let minimumSamples = 5
    private static let longWindows = 600.0
    private static let memory: Int64 = 60_000_000_000

    /// How many requests may be under way; the whole part counts.
    private(set) var value: Double { didSet { whole = Int(value) } }
    /// The whole part.
    private(set) var whole: Int
    private let start: Int
    private let range: ClosedRange<Double>

    /// The time of the last answer or failure.
    private var last: Int64?
    private var windowStart: Int64?
    private var sum = 0.0
    private var count = 0
    private var peak = 0
    private var windows = 0.0
    /// The time of the last failure that lowered the limit.
    private var lowered = Int64.min
    /// The usual response time, in nanoseconds.
    private(set) var usual = 0.0

    init(start: Int, in range: ClosedRange<Int>) {
        // As good as unlimited, and exact as an integer and as a floating-point number.
        let most = 1_000_000_000
        self.start = start
        self.range = Double(min(max(1, range.lowerBound), most))...Double(min(max(1, range.upperBound), most))
        value = min(max(Double(start), self.range.lowerBound), self.range.upperBound)
        whole = Int(value)
    }

    /// Begins anew when the last answer or failure is over a minute old: it says nothing of how the server is now. A limit that has grown
    /// stays.
    mutating func forgetOld(at now: Int64) {
        guard let last, now &- last > Self.memory else { return }
        let former = value
        self = Self(start: start, in: Int(range.lowerBound)...Int(range.upperBound))
        value = max(value, former)
    }

    /// Counts a response that came after so many nanoseconds, with so many requests under way, this one included.
    mutating func answered(after time: Int64, inFlight: Int, at now: Int64) {
        last = now
        sum += Double(max(0, time))
        count += 1
        peak = max(peak, inFlight)
        guard let start = windowStart else { return windowStart = now }
        if now &- start >= Self.window, count >= Self.minimumSamples { closeWindow(at: now) }
    }

    /// Counts a timeout, a broken connection, or a response by which the server reports overload, and says whether the limit
    /// has changed.
    mutating func failed(begunAt start: Int64, at now: Int64) -> Bool {
        last = now
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
        // Otherwise a lasting overload would become the usual, and its end go unnoticed.
        if usual > 2 * recent { usual *= 0.95 }
        let gradient = recent > 0 ? min(max(1.5 * usual / recent, 0.5), 1) : 1
        let target = value * gradient + max(2, value.squareRoot())
        // Only shrinking is smoothed: after an outage each second of growth counts.
        var next = gradient < 1 ? 0.8 * value + 0.2 * target : target
        // A limit that isn't used up doesn't show that more would be possible, nor that slow answers come of too many.
        if Double(peak) < value / 2 { next = value }
        value = min(max(next, range.lowerBound), range.upperBound)
        (sum, count, peak, windowStart) = (0, 0, 0, now)
    }
}
