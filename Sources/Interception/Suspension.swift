/// The wait of one task for a value from elsewhere, which ends once: with the value, by cancellation, or when its time is over.
///
/// Owners keep suspensions in their own state, under their own lock, and resume them outside of it:
///
/// ```swift
/// let suspension = Suspension<Permit>()
/// state.withLock { $0.queue.append(suspension) }
/// switch await suspension.wait(for: limit, on: timer) {
/// case .value(let permit): use(permit)
/// case .cancelled, .timedOut: state.withLock { $0.queue.removeAll { $0 == suspension } }
/// }
/// ```
///
/// A value that ``resume(_:)`` has accepted is what the wait returns, whatever happens meanwhile; one that it refuses remains the caller's, who
/// gives it to the next in the queue. So nothing that is handed over gets lost. A suspension that is never waited for drops its value.
@usableFromInline
package struct Suspension<Value: Sendable>: Sendable {
    /// Why a wait is over.
    @frozen @usableFromInline
    package enum Ending: Sendable {
        case value(Value)
        /// The waiting task was cancelled.
        case cancelled
        case timedOut
    }

    @usableFromInline typealias Waiter = UnsafeContinuation<Ending, Never>

    @usableFromInline
    enum State {
        case pending
        case parked(Waiter)
        /// Ended before the task has parked.
        case ended(Ending)
        case over
    }

    @usableFromInline let state = Locked(State.pending)

    /// One allocation.
    @inlinable
    package init() {}

    /// Ends the wait with a value. Not to be called while a lock is held.
    ///
    /// - Returns: Whether the task gets it; false when its wait is over already.
    @discardableResult @inlinable
    package func resume(_ value: Value) -> Bool { end(.value(value)) }

    /// Waits until a value has come or the task is cancelled. Returns at once if either has happened before. Called once.
    @inlinable
    nonisolated(nonsending) package func wait() async -> Ending {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { park($0) }
        } onCancel: {
            // Noted in the state, so a cancellation isn't missed whether it comes before the task parks, meanwhile or after that.
            end(.cancelled)
        }
    }

    /// The same with a limit, after which the wait ends as timed out.
    ///
    /// - Parameters:
    ///   - limit: nil: none. With zero or less only a value that is there already is returned.
    ///   - timer: That of the clock on which the limit is measured.
    @inlinable
    nonisolated(nonsending) package func wait(for limit: Duration?, on timer: ClockTimer) async -> Ending {
        if let limit, limit <= .zero { end(Task.isCancelled ? .cancelled : .timedOut) }
        guard let limit, !isOver else { return await wait() }
        let entry = timer.schedule(self, after: limit)
        defer { entry.cancel() }
        return await wait()
    }

    /// Waits for the value, whether or not the task is cancelled, as `Task.value` does. Called once, in place of ``wait()``.
    @inlinable
    nonisolated(nonsending) package func value() async -> Value {
        guard case .value(let value) = await withUnsafeContinuation({ park($0) }) else {
            preconditionFailure("A wait without a limit, outside of cancellation, ends with a value.")
        }
        return value
    }

    /// The same with a limit; nil when it is over.
    ///
    /// - Parameters:
    ///   - limit: With zero or less only a value that is there already is returned.
    ///   - timer: That of the clock on which the limit is measured.
    @inlinable
    nonisolated(nonsending) package func value(within limit: Duration, on timer: ClockTimer) async -> Value? {
        if limit <= .zero { end(.timedOut) }
        let entry = isOver ? nil : timer.schedule(self, after: limit)
        let ending = await withUnsafeContinuation { park($0) }
        entry?.cancel()
        guard case .value(let value) = ending else { return nil }
        return value
    }

    /// The value if it has come already, and the wait is then over; nil: it is still to be waited for.
    @inlinable package func takeNow() -> Value? {
        state.withLock { state in
            guard case .ended(.value(let value)) = state else { return nil }
            state = .over
            return value
        }
    }

    /// Whether the wait has ended, or will as soon as it begins.
    @inlinable package var isOver: Bool {
        state.withLock { state in
            switch state {
            case .pending, .parked: false
            case .ended, .over: true
            }
        }
    }

    @inlinable
    func park(_ waiter: Waiter) {
        let ending = state.withLock { state -> Ending? in
            switch state {
            case .pending:
                state = .parked(waiter)
                return nil
            case .ended(let ending):
                state = .over
                return ending
            case .parked, .over: preconditionFailure("A suspension is waited for once.")
            }
        }
        if let ending { waiter.resume(returning: ending) }
    }

    @inlinable @discardableResult
    func end(_ ending: Ending) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, Waiter?) in
            switch state {
            case .pending:
                state = .ended(ending)
                return (true, nil)
            case .parked(let waiter):
                state = .over
                return (true, waiter)
            case .ended, .over: return (false, nil)
            }
        }
        waiter?.resume(returning: ending)
        return isFirst
    }
}

extension Suspension where Value == Void {
    /// Ends the wait. Not to be called while a lock is held.
    ///
    /// - Returns: Whether this did; false when it was over already.
    @discardableResult @inlinable
    package func resume() -> Bool { end(.value(())) }
}

extension Suspension: Equatable {
    /// Whether both are the same wait.
    @inlinable
    package static func == (a: Suspension, b: Suspension) -> Bool { a.state.storage === b.state.storage }
}

extension Suspension: TimerListener {
    @inlinable
    package func timerFired() { end(.timedOut) }
}
