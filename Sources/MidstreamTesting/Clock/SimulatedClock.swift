internal import Interception

/// The clock of a ``Simulation``: its time jumps to the next sleeper when nothing is left to do.
///
/// A second of it takes no time. Unlike a ``TestClock`` it isn't moved by hand.
public final class SimulatedClock: Clock, Sendable {
    /// A point in its time.
    public typealias Instant = VirtualInstant

    /// What happens at a time.
    private enum Event: Sendable {
        /// Ends a sleep, with whether its time has come.
        case wakes(Suspension<Bool>)
        case action(@Sendable () -> Void)
    }

    private struct State {
        var now = Duration.zero
        var events = TimerHeap<Duration, Event>()
    }

    private let state = Locked(State())

    init() {}

    /// The time.
    public var now: Instant { Instant(offset: state.withLock { $0.now }) }

    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until the time has come; returns at once when it is past.
    ///
    /// - Parameter tolerance: Ignored.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let sleep = Suspension<Bool>()
        let ticket = state.withLock { state in
            deadline.offset <= state.now ? nil : state.events.insert(.wakes(sleep), at: deadline.offset)
        }
        guard let ticket else { return }
        guard case .value(true) = await sleep.wait() else {
            state.withLock { _ = $0.events.remove(ticket) }
            throw CancellationError()
        }
    }

    /// Runs an action at a time, or if that is past as soon as nothing is left to do.
    func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) {
        state.withLock { _ = $0.events.insert(.action(action), at: max(time, $0.now)) }
    }

    /// Moves the time to the next event and runs it; false when there is none.
    func step() -> Bool {
        let event = state.withLock { state -> Event? in
            guard let time = state.events.nextDue else { return nil }
            state.now = max(state.now, time)
            return state.events.removeFirst(upTo: time)
        }
        switch event {
        case .wakes(let sleep): sleep.resume(true)
        case .action(let action): action()
        case nil: return false
        }
        return true
    }

    /// Drops all events and ends all sleeps, since the time doesn't move any more.
    func end() {
        var events = state.withLock { state in
            defer { state.events = TimerHeap() }
            return state.events
        }
        while let time = events.nextDue, let event = events.removeFirst(upTo: time) {
            if case .wakes(let sleep) = event { sleep.resume(false) }
        }
    }
}
