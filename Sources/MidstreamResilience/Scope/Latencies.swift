/// A histogram of response times over the last half minute to minute, with an error of an eighth at most.
struct Latencies: Sendable {
    private static let window: Int64 = 30_000_000_000
    /// Buckets per doubling.
    private static let steps = 8
    /// 65 µs and less go into the first bucket, a quarter of an hour and more into the last.
    private static let lowest = 16
    private static let highest = 40
    private static var bucketCount: Int { (highest - lowest) * steps }

    private var current: [UInt32] = []
    private var previous: [UInt32] = []
    private var currentCount = 0
    private var previousCount = 0
    private var windowStart: Int64 = 0

    /// The number of responses counted.
    func count(at now: Int64) -> Int {
        switch now &- windowStart {
        case ..<Self.window: currentCount + previousCount
        case ..<(2 * Self.window): currentCount
        default: 0
        }
    }

    mutating func record(_ nanoseconds: Int64, at now: Int64) {
        if current.isEmpty {
            current = Array(repeating: 0, count: Self.bucketCount)
            previous = current
            windowStart = now
        }
        if now &- windowStart >= Self.window { turn(at: now) }
        current[Self.bucket(of: nanoseconds)] &+= 1
        currentCount += 1
    }

    /// The time within which a share of the responses came; nil when there were none.
    func quantile(_ share: Double, at now: Int64) -> Duration? {
        let count = count(at: now)
        guard count > 0 else { return nil }
        let isWhole = count > currentCount
        let wanted = max(1, Int((Double(count) * min(max(0, share), 1)).rounded(.up)))
        var seen = 0
        for bucket in current.indices {
            seen += Int(current[bucket]) + (isWhole ? Int(previous[bucket]) : 0)
            if seen >= wanted { return .nanoseconds(Self.upperBound(of: bucket)) }
        }
        return nil
    }

    private mutating func turn(at now: Int64) {
        let isOld = now &- windowStart >= 2 * Self.window
        swap(&current, &previous)
        previousCount = currentCount
        currentCount = 0
        for bucket in current.indices { current[bucket] = 0 }
        if isOld {
            previousCount = 0
            for bucket in previous.indices { previous[bucket] = 0 }
        }
        windowStart = now
    }

    private static func bucket(of nanoseconds: Int64) -> Int {
        let value = UInt64(max(1, nanoseconds))
        let octave = 63 - value.leadingZeroBitCount
        guard octave >= lowest else { return 0 }
        guard octave < highest else { return bucketCount - 1 }
        // The three bits behind the first one.
        return (octave - lowest) * steps + Int((value >> UInt64(octave - 3)) & 7)
    }

    private static func upperBound(of bucket: Int) -> Int64 {
        let octave = lowest + bucket / steps
        return (Int64(8 + bucket % steps + 1)) << Int64(octave - 3)
    }
}
