internal import Interception
internal import MidstreamCore

/// Tells races when their first exchanges are late, by one sleeping task for all of them.
///
/// That task outlives a race by the time that was left of it, since the next race is likely to need it.
final class HedgeTimer: Sendable {
    /// A race that is to be told.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because the variables are only touched while the lock of the timer is held.
    final class Alarm: @unchecked Sendable {
        fileprivate let due: Int64
        fileprivate let number: UInt64
        fileprivate let race: RaceEvents
        /// Where it is in the heap; nil once it has left it.
        fileprivate var place: Int?

        fileprivate init(due: Int64, number: UInt64, race: RaceEvents) {
            (self.due, self.number, self.race) = (due, number, race)
        }

        fileprivate func isBefore(_ other: Alarm) -> Bool { (due, number) < (other.due, other.number) }
    }

    private struct State {
        var heap: [Alarm] = []
        var lastNumber: UInt64 = 0
        /// When the sleeping task wakes; nil: there is none.
        var wakes: Int64?
        var sleeper: Task<Void, Never>?
        var sleepers: UInt64 = 0
    }

    private let state = Locked(State())

    deinit { state.withLock { $0.sleeper }?.cancel() }

    /// How many races are to be told.
    var count: Int { state.withLock { $0.heap.count } }

    /// Tells a race when a time has come.
    ///
    /// - Parameters:
    ///   - due: On the clock of `time`.
    ///   - time: What time it is, on the clock on which the task sleeps.
    func set(
        for race: RaceEvents, at due: Int64, on clock: any Clock<Duration>, _ time: @escaping @Sendable () -> Int64
    ) -> Alarm {
        let (alarm, overtaken) = state.withLock { state -> (Alarm, Task<Void, Never>?) in
            state.lastNumber &+= 1
            let alarm = Alarm(due: due, number: state.lastNumber, race: race)
            alarm.place = state.heap.count
            state.heap.append(alarm)
            Self.rise(alarm, in: &state.heap)
            if let wakes = state.wakes, wakes <= due { return (alarm, nil) }
            let overtaken = state.sleeper
            state.sleepers &+= 1
            state.wakes = due
            state.sleeper = sleeper(state.sleepers, until: due, on: clock, time)
            return (alarm, overtaken)
        }
        overtaken?.cancel()
        return alarm
    }

    /// Forgets a race.
    func remove(_ alarm: Alarm) { state.withLock { Self.remove(alarm, from: &$0.heap) } }

    private func sleeper(
        _ number: UInt64, until due: Int64, on clock: any Clock<Duration>, _ time: @escaping @Sendable () -> Int64
    ) -> Task<Void, Never> {
        CallersExecutor().startDetached { [weak self] in
            var due: Int64? = due
            while let next = due {
                do { try await clock.pause(for: .nanoseconds(next &- time())) } catch { return }
                due = self?.ring(number, at: time())
            }
        }
    }

    /// Tells those whose time has come.
    ///
    /// - Returns: When there is something to do again; nil: never.
    private func ring(_ sleeper: UInt64, at now: Int64) -> Int64? {
        let (late, next) = state.withLock { state -> ([RaceEvents], Int64?) in
            guard state.sleepers == sleeper else { return ([], nil) }
            var late: [RaceEvents] = []
            while let first = state.heap.first, first.due <= now {
                Self.remove(first, from: &state.heap)
                late.append(first.race)
            }
            state.wakes = state.heap.first?.due
            if state.wakes == nil { state.sleeper = nil }
            return (late, state.wakes)
        }
        for race in late { race.isLate() }
        return next
    }

    private static func remove(_ alarm: Alarm, from heap: inout [Alarm]) {
        guard let place = alarm.place else { return }
        alarm.place = nil
        let last = heap.removeLast()
        guard last !== alarm else { return }
        last.place = place
        heap[place] = last
        rise(last, in: &heap)
        sink(last, in: &heap)
    }

    private static func rise(_ alarm: Alarm, in heap: inout [Alarm]) {
        while let place = alarm.place, place > 0, alarm.isBefore(heap[(place - 1) / 2]) {
            swap(place, (place - 1) / 2, in: &heap)
        }
    }

    private static func sink(_ alarm: Alarm, in heap: inout [Alarm]) {
        while let place = alarm.place {
            var first = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].isBefore(heap[first]) {
                first = child
            }
            if first == place { return }
            swap(place, first, in: &heap)
        }
    }

    private static func swap(_ a: Int, _ b: Int, in heap: inout [Alarm]) {
        heap.swapAt(a, b)
        heap[a].place = a
        heap[b].place = b
    }
}
