internal import Interception

/// A clock whose time jumps to the next sleeper when nothing is left to do: that of a ``Simulation``.
///
/// A second of it takes no time. Unlike that of a ``TestClock`` nobody moves it by hand.
public final class SimulatedClock: Clock, Sendable {
    /// A point in its time.
    public typealias Instant = VirtualInstant

    /// Something that is to happen at a time; of two at the same time the one that was planned first happens first.
    struct Event: Sendable {
        let time: Duration
        let number: UInt64
        let action: @Sendable () -> Void

        fileprivate static func < (a: Event, b: Event) -> Bool { (a.time, a.number) < (b.time, b.number) }
    }

    private struct State {
        var now = Duration.zero
        var nextNumber: UInt64 = 0
        /// A heap: the next event first.
        var events: [Event] = []
        var sleepers: [UInt64: UnsafeContinuation<Void, any Error>] = [:]
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
        let number = takeNumber()
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let answer: Result<Void, any Error>? = state.withLock { state in
                    // Looked at under the lock: a cancellation that comes later finds the sleeper.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if deadline.offset <= state.now { return .success(()) }
                    state.sleepers[number] = continuation
                    state.events.push(Event(time: deadline.offset, number: number) { [self] in wake(number) })
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    /// Has something happen at a time, or as soon as nothing is left to do when that is past.
    func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.nextNumber += 1
            state.events.push(Event(time: max(time, state.now), number: state.nextNumber, action: action))
        }
    }

    /// Moves the time to the next event and has it happen; false when there is none.
    func step() -> Bool {
        let event = state.withLock { state -> Event? in
            guard let event = state.events.pop() else { return nil }
            state.now = max(state.now, event.time)
            return event
        }
        event?.action()
        return event != nil
    }

    /// Forgets what is still to happen, and ends all sleeps: nobody moves the time any more.
    func end() {
        let (events, sleepers) = state.withLock { state in
            defer { (state.events, state.sleepers) = ([], [:]) }
            return (state.events, state.sleepers)
        }
        // Released out here, since what they hold may ask the clock.
        _ = events
        for sleeper in sleepers.values { sleeper.resume(throwing: CancellationError()) }
    }

    private func takeNumber() -> UInt64 {
        state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
    }

    private func wake(_ number: UInt64) {
        state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume()
    }
}

extension [SimulatedClock.Event] {
    fileprivate mutating func push(_ event: Element) {
        append(event)
        var place = count - 1
        while place > 0, self[place] < self[(place - 1) / 2] {
            swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    fileprivate mutating func pop() -> Element? {
        guard let first else { return nil }
        let last = removeLast()
        guard !isEmpty else { return first }
        self[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < count && self[child] < self[least] { least = child }
            if least == place { return first }
            swapAt(place, least)
            place = least
        }
    }
}
