internal import MidstreamPlatform

/// Called when the time of an entry in a ``ClockTimer`` has come.
@usableFromInline
package protocol TimerListener: Sendable {
    /// Called once, outside of any call's task. Must not wait: other listeners come after it.
    func timerFired()
}

/// Calls listeners at their time on one clock.
///
/// On the system's clock all entries of the process share one heap and one sleeping task. The clock's own sleep would keep the memory of a
/// cancelled wait until its time; with a minute's limit on each of many requests that adds up. On any other clock each entry is a task that
/// sleeps on it, so a test clock counts it as a sleeper.
@usableFromInline
package struct ClockTimer: Sendable {
    /// nil: the system's.
    private let other: (any Clock<Duration>)?

    /// That of `ContinuousClock`.
    @usableFromInline
    package static let system = ClockTimer(ContinuousClock())

    package init(_ clock: any Clock<Duration>) { other = clock is ContinuousClock ? nil : clock }

    package var clock: any Clock<Duration> { other ?? ContinuousClock() }

    package var isOnSystemClock: Bool { other == nil }

    /// A listener that is to be called.
    @usableFromInline
    package struct Entry: Sendable {
        fileprivate enum Place {
            case heap(TimerQueue.Ticket)
            case task(Task<Void, Never>)
        }

        fileprivate let place: Place

        /// Removes it. Its time may come at the same moment, and the listener be called nevertheless.
        @usableFromInline
        package func cancel() {
            switch place {
            case .heap(let ticket): TimerQueue.shared.remove(ticket)
            case .task(let task): task.cancel()
            }
        }
    }

    /// Has a listener called once, in another task, not before its time. A clock whose sleep fails calls it at once, so that nobody waits for ever.
    ///
    /// - Parameter delay: From now on.
    @usableFromInline
    package func schedule(_ listener: any TimerListener, after delay: Duration) -> Entry {
        guard let other else { return Entry(place: .heap(TimerQueue.shared.insert(listener, after: delay))) }
        let sleep = Self.sleep(for: delay, on: other)
        let task = CallersExecutor().startDetached {
            try? await sleep()
            if !Task.isCancelled { listener.timerFired() }
        }
        return Entry(place: .task(task))
    }

    /// Waits in the present task. Returns at once for zero or less.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(for delay: Duration) async throws {
        if let other { return try await other.sleep(for: delay.waitable) }
        if case .cancelled = await Suspension<Never>().wait(for: delay, on: self) { throw CancellationError() }
    }

    /// A sleep whose end is fixed now, whenever it begins.
    private static func sleep<C: Clock<Duration>>(for delay: Duration, on clock: C) -> @Sendable () async throws -> Void {
        let due = clock.now.advanced(by: delay.waitable)
        return { try await clock.sleep(until: due, tolerance: nil) }
    }
}

extension Duration {
    /// As much of it as can be waited for: nothing at least, and a century at most, so that the sum with a clock's time can't overflow.
    fileprivate var waitable: Duration { max(.zero, min(self, .seconds(3_155_760_000 as Int64))) }
}

/// The entries on the system's clock.
private final class TimerQueue: Sendable {
    typealias Heap = TimerHeap<Int64, any TimerListener>
    typealias Ticket = Heap.Ticket

    private struct State {
        var entries = Heap()
        /// When sleeping tasks wake, the nearest last. More than one only while a nearer time has overtaken a farther one.
        var wakeTimes: [Int64] = []
    }

    static let shared = TimerQueue()
    private let state = Locked(State())

    func insert(_ listener: any TimerListener, after delay: Duration) -> Ticket {
        let (seconds, attoseconds) = delay.waitable.components
        let nanoseconds = seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
        return state.withLock { state in
            let due = continuousNanoseconds() + nanoseconds
            let ticket = state.entries.insert(listener, at: due)
            wake(by: due, &state)
            return ticket
        }
    }

    func remove(_ ticket: Ticket) {
        // Released outside of the lock.
        _ = state.withLock { $0.entries.remove(ticket) }
    }

    private func wake(by due: Int64, _ state: inout State) {
        if let nearest = state.wakeTimes.last, nearest <= due { return }
        state.wakeTimes.append(due)
        Task.detached { [self] in
            let left = due - continuousNanoseconds()
            if left > 0 { try? await ContinuousClock().sleep(for: .nanoseconds(left)) }
            fire(wokenAt: due)
        }
    }

    private func fire(wokenAt wakeTime: Int64) {
        let listeners = state.withLock { state in
            state.wakeTimes.removeAll { $0 == wakeTime }
            // A sleep that ended early is repeated for the rest, so that nobody is called before its time.
            let now = continuousNanoseconds()
            var listeners: [any TimerListener] = []
            while let listener = state.entries.removeFirst(upTo: now) { listeners.append(listener) }
            if let next = state.entries.nextDue { wake(by: next, &state) }
            return listeners
        }
        for listener in listeners { listener.timerFired() }
    }
}

/// Nanoseconds of the clock that `ContinuousClock` is, without the arithmetic of its instants. It counts the time in which the machine sleeps.
///
/// All times are read from it: a limit that begins on one clock and is waited for on another would be longer by that time.
package func continuousNanoseconds() -> Int64 {
    #if canImport(Darwin)
        return Int64(clamping: clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW))
    #else
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    #endif
}
