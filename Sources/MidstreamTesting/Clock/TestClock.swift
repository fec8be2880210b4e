internal import Interception

/// A clock whose time moves only when a test says so.
///
/// ```swift
/// let clock = TestClock()
/// let work = Task { try await retrying(clock) }     // sleeps on the clock between its attempts
/// await clock.waitForSleepers(1)                     // the work has reached its first sleep
/// clock.advance(by: .seconds(1))
/// ```
///
/// ``advance(by:)`` resumes those whose deadline has come, in the order of their deadlines, and returns. It doesn't wait for them
/// to run: that a task was resumed says nothing about when it goes on. So wait for something that the task does: its result, a
/// request that a server has received, or its next sleep with ``waitForSleepers(_:)``.
///
/// All members may be used from any thread. Real time plays no part.
public final class TestClock: Clock {
    /// A point in its time.
    public typealias Instant = VirtualInstant

    private struct Sleeper {
        let id: Int
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Observer {
        let id: Int
        let wanted: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant()
        var nextID = 0
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
        let id = nextID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(Sleeper(id: id, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            let cancelled: Sleeper? = state.withLock { state in
                state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            cancelled?.continuation.resume(throwing: CancellationError())
        }
    }

    private func add(_ sleeper: Sleeper) {
        let (answer, satisfied) = state.withLock { state -> (Result<Void, any Error>?, [Observer]) in
            // Looked at under the lock: a cancellation that comes later finds the sleeper in the list.
            if Task.isCancelled { return (.failure(CancellationError()), []) }
            if sleeper.deadline <= state.now { return (.success(()), []) }
            let place = state.sleepers.firstIndex { $0.deadline > sleeper.deadline } ?? state.sleepers.endIndex
            state.sleepers.insert(sleeper, at: place)
            let count = state.sleepers.count
            let satisfied = state.observers.filter { $0.wanted <= count }
            state.observers.removeAll { $0.wanted <= count }
            return (nil, satisfied)
        }
        if let answer { sleeper.continuation.resume(with: answer) }
        for observer in satisfied { observer.continuation.resume() }
    }

    /// Waits until at least `count` tasks are sleeping. Returns early when the task is cancelled.
    public func waitForSleepers(_ count: Int = 1) async {
        let id = nextID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || state.sleepers.count >= count { return true }
                    state.observers.append(Observer(id: id, wanted: count, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let cancelled: Observer? = state.withLock { state in
                state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
            }
            cancelled?.continuation.resume()
        }
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
        for sleeper in woken { sleeper.continuation.resume() }
    }

    private func nextID() -> Int {
        state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
    }
}
