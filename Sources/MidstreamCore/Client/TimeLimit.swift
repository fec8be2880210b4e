/// A bound on how long a piece of work may take.
struct TimeLimit: Sendable {
    private let duration: Duration?
    private let clock: any Clock<Duration>

    /// - Parameter duration: nil, zero or less: no limit.
    init(_ duration: Duration?, on clock: any Clock<Duration>) {
        self.duration = duration.flatMap { $0 > .zero ? $0 : nil }
        self.clock = clock
    }

    /// Runs `work` and, when the time is over, cancels it and throws what `error` makes.
    ///
    /// The work runs in a child task, so that whatever it waits for is interrupted, whoever wrote it.
    func run<Value: Sendable>(
        error: @escaping @Sendable (Duration) -> HTTPError, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let duration else { return try await work() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask { [clock] in
                try await clock.pause(for: duration)
                return nil
            }
            // The first to end decides; the group then waits for the other, which is cancelled.
            defer { group.cancelAll() }
            if let first = try await group.next(), let value = first { return value }
            throw error(duration)
        }
    }
}

/// Tells how much time has passed on a client's clock.
package struct Stopwatch: Sendable {
    package let clock: any Clock<Duration>
    private let systemStart: ContinuousClock.Instant?
    private let elapsedOnOtherClock: (@Sendable () -> Duration)?

    init(on clock: any Clock<Duration>) {
        self.clock = clock
        systemStart = clock is ContinuousClock ? .now : nil
        elapsedOnOtherClock = systemStart == nil ? Self.elapsed(on: clock) : nil
    }

    /// Whether the time is that of the system, which a transport can keep by itself.
    package var isOnSystemClock: Bool { systemStart != nil }

    package var elapsed: Duration {
        if let systemStart { return systemStart.duration(to: .now) }
        return elapsedOnOtherClock?() ?? .zero
    }

    private static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension Duration {
    /// Nanoseconds, as many as there is room for.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !isTooLarge else { return seconds < 0 ? .min : .max }
        let (sum, isTooMuch) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooMuch ? (seconds < 0 ? .min : .max) : sum
    }
}
