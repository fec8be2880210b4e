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

/// Wakes tasks at their time, by one sleeping task for all. Late by at most a hundredth of a second.
private final class Alarms: Sendable {
    static let shared = Alarms()

    private typealias Waiter = UnsafeContinuation<Void, any Error>

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
        let nanoseconds = duration / .nanoseconds(1)
        guard nanoseconds > 0 else { return try Task.checkCancellation() }
        // About three centuries at most, so that the sum below can't overflow.
        let slot = (monotonicNanoseconds() + UInt64(min(nanoseconds, 1e19 / 2))) / Self.slot + 1
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { enter($0, ticket, slot) }
        } onCancel: {
            leave(ticket, slot)?.resume(throwing: CancellationError())
        }
    }

    private func enter(_ waiter: Waiter, _ ticket: UInt64, _ slot: UInt64) {
        let isCancelled = state.withLock { state in
            // Asked under the lock: a cancellation that comes later finds the waiter.
            if Task.isCancelled { return true }
            state.waiters[slot, default: [:]][ticket] = waiter
            wake(by: slot, &state)
            return false
        }
        if isCancelled { waiter.resume(throwing: CancellationError()) }
    }

    private func leave(_ ticket: UInt64, _ slot: UInt64) -> Waiter? {
        state.withLock { state in
            let waiter = state.waiters[slot]?.removeValue(forKey: ticket)
            if state.waiters[slot]?.isEmpty == true { state.waiters[slot] = nil }
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
        for waiter in due { waiter.resume() }
    }
}
