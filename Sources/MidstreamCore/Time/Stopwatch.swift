/// Tells how much time has passed on a client's clock.
package struct Stopwatch: Sendable {
    package let clock: any Clock<Duration>
    /// The nanoseconds of the system's clock at the start. An instant would be a value that only the runtime knows how to copy.
    private let systemStart: Int64?
    private let elapsedOnOtherClock: (@Sendable () -> Duration)?

    package init(on clock: any Clock<Duration>) {
        self.clock = clock
        systemStart = clock is ContinuousClock ? continuousNanoseconds() : nil
        elapsedOnOtherClock = systemStart == nil ? Self.elapsed(on: clock) : nil
    }

    /// One for the same clock that starts now. Costs less than making one, which has to find out what kind of clock it is.
    package func restarted() -> Stopwatch { Stopwatch(sameAs: self) }

    private init(sameAs other: Stopwatch) {
        clock = other.clock
        systemStart = other.systemStart == nil ? nil : continuousNanoseconds()
        elapsedOnOtherClock = systemStart == nil ? Self.elapsed(on: clock) : nil
    }

    /// Whether the time is that of the system, which a transport can keep by itself.
    package var isOnSystemClock: Bool { systemStart != nil }

    package var elapsed: Duration {
        if let systemStart { return .nanoseconds(continuousNanoseconds() &- systemStart) }
        return elapsedOnOtherClock?() ?? .zero
    }

    /// The same in nanoseconds, with which it is cheaper to count.
    package var elapsedNanoseconds: Int64 {
        if let systemStart { return continuousNanoseconds() &- systemStart }
        return elapsed.wholeNanoseconds
    }

    private static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
