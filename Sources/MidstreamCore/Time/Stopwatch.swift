package import Interception

/// Measures how much time has passed on a client's clock.
package struct Stopwatch: Sendable {
    /// That of the clock.
    package let timer: ClockTimer
    /// The nanoseconds of the system's clock at the start, whatever clock it measures on: they tell what came first. An instant would be a
    /// value that only the runtime knows how to copy.
    package let start: Int64
    private let elapsedOnOtherClock: (@Sendable () -> Duration)?

    package init(on clock: any Clock<Duration>) { self.init(ClockTimer(clock)) }

    private init(_ timer: ClockTimer) {
        self.timer = timer
        start = continuousNanoseconds()
        elapsedOnOtherClock = timer.isOnSystemClock ? nil : Self.elapsed(on: timer.clock)
    }

    /// One for the same clock that starts now. Costs less than making one, which has to find out what kind of clock it is.
    package func restarted() -> Stopwatch { Stopwatch(timer) }

    package var clock: any Clock<Duration> { timer.clock }

    /// Whether the time is that of the system, which a transport can keep by itself.
    package var isOnSystemClock: Bool { timer.isOnSystemClock }

    /// Whether both go by the same clock for certain.
    func isOnSameClock(as other: Stopwatch) -> Bool {
        guard !isOnSystemClock, !other.isOnSystemClock else { return isOnSystemClock == other.isOnSystemClock }
        guard type(of: clock) is AnyObject.Type else { return Self.isEqual(clock, other.clock) }
        return clock as AnyObject === other.clock as AnyObject
    }

    /// Whether a clock that is a value equals another one: one without state does any of its type.
    private static func isEqual<C: Clock<Duration>>(_ clock: C, _ other: any Clock<Duration>) -> Bool {
        guard let other = other as? C else { return false }
        return MemoryLayout<C>.size == 0 || (clock as? any Equatable)?.isEqual(to: other) == true
    }

    package var elapsed: Duration { elapsedOnOtherClock?() ?? .nanoseconds(continuousNanoseconds() &- start) }

    /// The same in nanoseconds, with which it is cheaper to count.
    package var elapsedNanoseconds: Int64 {
        elapsedOnOtherClock?().wholeNanoseconds ?? continuousNanoseconds() &- start
    }

    private static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { (other as? Self) == self }
}
