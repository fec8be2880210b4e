internal import Interception

/// A clock whose time a test moves by hand.
///
/// ```swift
/// let clock = TestClock()
/// let work = Task { try await retrying(clock) }     // sleeps on the clock between its attempts
/// await clock.waitForSleepers(1)                     // the work has reached its first sleep
/// clock.advance(by: .seconds(1))
/// ```
///
/// ``advance(by:)`` resumes the tasks whose deadline has come, in the order of their deadlines, and returns without waiting for them to run. So wait
/// for something that the task does: its result, a request at a server, or its next sleep with ``waitForSleepers(_:)``.
///
/// All members may be used from any thread. Real time plays no part.
public final class TestClock: Clock {
    /// A point in its time.
    public typealias Instant = VirtualInstant

    private struct Sleeper {
        let deadline: Instant
        /// Ends with whether the deadline has come.
        let wait: Suspension<Bool>
    }

    private struct Observer {
        let wanted: Int
        let wait: Suspension<Void>
    }

    private struct State {
        var now = Instant()
        /// By deadline, and with the same deadline in the order in which they came.
        var sleepers: [Sleeper] = []
        var observers: [Observer] = []
    }

    private let state = Locked(State())

    /// Makes a clock at offset zero.
    public init() {}

    /// The time to which the clock has been advanced.
    public var now: Instant { state.withLock { $0.now } }

    /// A nanosecond. Deadlines aren't rounded.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How many tasks are sleeping.
    public var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// The deadline of the task that will wake first; nil when none sleeps.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.first?.deadline } }

    /// Sleeps until the clock has been advanced to `deadline`; returns at once when it is there already.
    ///
    /// - Parameter tolerance: Ignored.
    /// - Throws: `CancellationError` when the task is cancelled, without waiting for the clock.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleeper = Sleeper(deadline: deadline, wait: Suspension())
        let isDue = try await withTaskCancellationHandler {
            // Added within the handler, so that who is cancelled meanwhile is either removed by it or not added.
            guard try add(sleeper) else { return true }
            return await sleeper.wait.value()
        } onCancel: {
            // Removed here rather than by the sleeping task, so that `sleepers` is right at once.
            state.withLock { $0.sleepers.removeAll { $0.wait == sleeper.wait } }
            sleeper.wait.resume(false)
        }
        if !isDue { throw CancellationError() }
    }

    /// False when its deadline has come.
    private func add(_ sleeper: Sleeper) throws -> Bool {
        let satisfied = try state.withLock { state -> [Observer]? in
            try Task.checkCancellation()
            if sleeper.deadline <= state.now { return nil }
            let place = state.sleepers.firstIndex { $0.deadline > sleeper.deadline } ?? state.sleepers.endIndex
            state.sleepers.insert(sleeper, at: place)
            let count = state.sleepers.count
            defer { state.observers.removeAll { $0.wanted <= count } }
            return state.observers.filter { $0.wanted <= count }
        }
        for observer in satisfied ?? [] { observer.wait.resume() }
        return satisfied != nil
    }

    /// Waits until at least `count` tasks are sleeping. Returns early when the task is cancelled.
    public func waitForSleepers(_ count: Int = 1) async {
        let observer = Observer(wanted: count, wait: Suspension())
        let isOver = state.withLock { state in
            if state.sleepers.count >= count { return true }
            state.observers.append(observer)
            return false
        }
        guard !isOver, case .cancelled = await observer.wait.wait() else { return }
        state.withLock { $0.observers.removeAll { $0.wait == observer.wait } }
    }

    /// Moves the time forward and wakes those whose deadline has come, in the order of their deadlines. Zero or less moves
    /// nothing.
    public func advance(by duration: Duration) {
        wake { $0.now.advanced(by: duration) }
    }

    /// Moves the time forward to an instant, as ``advance(by:)`` does. An instant in the past moves nothing.
    public func advance(to instant: Instant) {
        wake { _ in instant }
    }

    /// Moves the time forward to the latest deadline, so that everyone who sleeps now is woken.
    public func advanceToLastDeadline() {
        wake { $0.sleepers.last?.deadline ?? $0.now }
    }

    private func wake(_ target: (State) -> Instant) {
        let woken = state.withLock { state in
            state.now = max(state.now, target(state))
            let due = state.sleepers.prefix { $0.deadline <= state.now }
            state.sleepers.removeFirst(due.count)
            return due
        }
        for sleeper in woken { sleeper.wait.resume(true) }
    }
}
