extension Duration {
    /// As good as no limit: a century. For a ``HTTPRequest/timeout`` or ``HTTPRequest/deadline`` in place of the client's, which nil stands
    /// for.
    public static let unlimited = longest

    /// About a century: as good as any longer time, and its nanoseconds can be counted and added up.
    package static let longest = Duration.seconds(100 * 366 * 86_400 as Int64)

    /// So many times as long: the limit where that is more, or no number at all, and zero where it is negative.
    package func times(_ factor: Double, atMost limit: Duration = .longest) -> Duration {
        let seconds = self / .seconds(1) * factor
        guard seconds < limit / .seconds(1) else { return limit }
        return seconds > 0 ? min(limit, self * factor) : .zero
    }

    /// Nanoseconds, as many as there is room for.
    package var wholeNanoseconds: Int64 {
        // What has more seconds than an Int64 has no components.
        guard self < .seconds(Int64.max) else { return .max }
        guard self > .seconds(Int64.min) else { return .min }
        let (seconds, attoseconds) = components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !isTooLarge else { return seconds < 0 ? .min : .max }
        let (sum, isTooMuch) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooMuch ? (seconds < 0 ? .min : .max) : sum
    }
}
