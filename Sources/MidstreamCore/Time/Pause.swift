internal import Interception

extension Clock where Duration == Swift.Duration {
    /// Waits; ends early with `CancellationError` when the task is cancelled.
    ///
    /// On the system's clock it doesn't use the clock's own sleep, which keeps the memory of a cancelled one until its time has
    /// come: with a minute's timeout on each of many requests that adds up.
    package func pause(for duration: Duration) async throws {
        if self is ContinuousClock {
            try await Alarms.shared.wait(for: duration)
        } else {
            try await sleep(for: duration)
        }
    }
}

/// Somebody who is to be told when a time is over.
protocol TimeListener: Sendable {
    /// Called once, in a task of no call.
    func timeIsOver()
}

/// Wakes tasks and tells others at their time on the system's clock, by one sleeping task for all. Late by at most a hundredth of a second.
final class Alarms: Sendable {
    static let shared = Alarms()

    /// What is to be removed again.
    struct Alarm: Sendable {
        fileprivate let ticket: UInt64
        fileprivate let slot: UInt64
    }

    private enum Waiter {
        case task(UnsafeContinuation<Void, any Error>)
        case listener(any TimeListener)
    }

    private struct State {
        var nextTicket: UInt64 = 0
        /// Who waits, by the hundredth of a second in which they are to be woken.
        var waiters: [UInt64: [UInt64: Waiter]] = [:]
        /// When sleeping tasks will wake up by themselves. More than one only while a nearer time has overtaken a farther one.
        var sleepers: Set<UInt64> = []
    }

    private static let slot: UInt64 = 10_000_000
    private let state = Locked(State())

    func wait(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        let alarm = state.withLock { Self.alarm(in: duration, &$0) }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { enter($0, alarm) }
        } onCancel: {
            if case .task(let waiter)? = leave(alarm) { waiter.resume(throwing: CancellationError()) }
        }
    }

    /// Has a listener told.
    ///
    /// - Parameter duration: Greater than zero.
    func set(for listener: any TimeListener, in duration: Duration) -> Alarm {
        state.withLock { state in
            let alarm = Self.alarm(in: duration, &state)
            enter(.listener(listener), alarm, &state)
            return alarm
        }
    }

    /// Forgets a listener. It may be told at the same time.
    func remove(_ alarm: Alarm) { _ = leave(alarm) }

    private static func alarm(in duration: Duration, _ state: inout State) -> Alarm {
        // About three centuries at most, so that the sum can't overflow.
        let nanoseconds = UInt64(max(1, min(duration, .seconds(Int64.max / 1_000_000_000)).wholeNanoseconds))
        state.nextTicket += 1
        return Alarm(ticket: state.nextTicket, slot: (monotonicNanoseconds() + nanoseconds) / slot + 1)
    }

    private func enter(_ waiter: UnsafeContinuation<Void, any Error>, _ alarm: Alarm) {
        let isCancelled = state.withLock { state in
            // Asked under the lock: a cancellation that comes later finds the waiter.
            if Task.isCancelled { return true }
            enter(.task(waiter), alarm, &state)
            return false
        }
        if isCancelled { waiter.resume(throwing: CancellationError()) }
    }

    private func enter(_ waiter: Waiter, _ alarm: Alarm, _ state: inout State) {
        state.waiters[alarm.slot, default: [:]][alarm.ticket] = waiter
        wake(by: alarm.slot, &state)
    }

    private func leave(_ alarm: Alarm) -> Waiter? {
        state.withLock { state in
            let waiter = state.waiters[alarm.slot]?.removeValue(forKey: alarm.ticket)
            if state.waiters[alarm.slot]?.isEmpty == true { state.waiters[alarm.slot] = nil }
            return waiter
        }
    }

    /// Sees to it that a sleeping task wakes up in time.
    private func wake(by slot: UInt64, _ state: inout State) {
        guard !state.sleepers.contains(where: { $0 <= slot }) else { return }
        state.sleepers.insert(slot)
        Task.detached { [self] in
            let now = monotonicNanoseconds()
            let wakeTime = slot * Self.slot
            if wakeTime > now { try? await ContinuousClock().sleep(for: .nanoseconds(Int64(clamping: wakeTime - now))) }
            wakeDue(slot)
        }
    }

    private func wakeDue(_ sleeper: UInt64) {
        let now = max(sleeper, monotonicNanoseconds() / Self.slot)
        let due = state.withLock { state in
            state.sleepers.remove(sleeper)
            var due: [Waiter] = []
            for slot in state.waiters.keys where slot <= now {
                due += state.waiters.removeValue(forKey: slot)?.values.map { $0 } ?? []
            }
            if let next = state.waiters.keys.min() { wake(by: next, &state) }
            return due
        }
        for waiter in due {
            switch waiter {
            case .task(let task): task.resume()
            case .listener(let listener): listener.timeIsOver()
            }
        }
    }
}
