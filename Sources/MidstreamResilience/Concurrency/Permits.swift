internal import Interception

/// The requests of one key that are under way, and those that wait for a permit.
final class Permits: ScopeState {
    /// The right to have one request under way, given back when it goes out of scope.
    struct Permit: ~Copyable, Sendable {
        private let permits: Permits
        private var latency: Int64 = -1
        private var answered: Int64 = 0

        fileprivate init(_ permits: Permits) { self.permits = permits }

        /// The time until the response, which is counted when the permit comes back: that saves a lock.
        mutating func answered(after time: Int64, at now: Int64) { (latency, answered) = (max(0, time), now) }

        deinit { permits.giveBack(latency, at: answered) }
    }

    /// A request in the queue.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because the permit is only touched while the lock of the permits is held.
    final class Waiter: @unchecked Sendable {
        /// Ends with a permit, or when another request has taken the place.
        let suspension = Suspension<Void>()
        fileprivate let isSheddable: Bool
        fileprivate var permit: Permit?

        fileprivate init(isSheddable: Bool) { self.isSheddable = isSheddable }
    }

    private struct State {
        var adaptive: AdaptiveLimit?
        let fixed: Int
        var inFlight = 0
        /// Those who wait, the first to come first. The sheddable are served when there is no other.
        var ordinary: [Waiter] = []
        var sheddable: [Waiter] = []
        var latencies = Latencies()

        var queued: Int { ordinary.count + sheddable.count }

        var limit: Int { adaptive?.whole ?? fixed }

        /// Whether there is a permit; a tenth of them, one at least, is kept from the sheddable.
        func hasPermit(isSheddable: Bool) -> Bool {
            inFlight < (isSheddable ? max(1, limit - max(1, limit / 10)) : limit)
        }

        mutating func answered(after time: Int64, at now: Int64) {
            latencies.record(time, at: now)
            adaptive?.answered(after: time, inFlight: inFlight, at: now)
        }
    }

    let key: String
    private let places: Int
    private let state: Locked<State>

    init(_ key: String, _ limit: ConcurrencyLimit.Limit, queue: Int) {
        self.key = key
        places = max(0, queue)
        switch limit.kind {
        case .fixed(let count): state = Locked(State(adaptive: nil, fixed: max(1, count)))
        case .adaptive(let start, let range): state = Locked(State(adaptive: AdaptiveLimit(start: start, in: range), fixed: 0))
        }
    }

    var snapshot: ConcurrencyLimit.State {
        state.withLock { .init(limit: $0.limit, inFlight: $0.inFlight, queued: $0.queued) }
    }

    func isIdle(at now: Int64) -> Bool { state.withLock { $0.inFlight == 0 && $0.queued == 0 } }

    func quantile(_ share: Double, at now: Int64) -> Duration? { state.withLock { $0.latencies.quantile(share, at: now) } }

    /// A permit, if there is one. Those that come back go to the queue first.
    func take(isSheddable: Bool, at now: Int64) -> Permit? {
        state.withLock { state in
            state.adaptive?.forgetOld(at: now)
            guard state.hasPermit(isSheddable: isSheddable) else { return nil }
            state.inFlight += 1
            return Permit(self)
        }
    }

    /// A place in the queue, unless it is full. That of a sheddable one goes to others then.
    func enqueue(isSheddable: Bool) -> Waiter? {
        guard places > 0 else { return nil }
        let waiter = Waiter(isSheddable: isSheddable)
        let leaving: [Waiter]? = state.withLock { state in
            var evicted: [Waiter] = []
            if state.queued >= places {
                guard !isSheddable, let last = state.sheddable.popLast() else { return nil }
                evicted = [last]
            }
            if isSheddable { state.sheddable.append(waiter) } else { state.ordinary.append(waiter) }
            // A permit may have come back since there was none.
            return evicted + admitNext(&state)
        }
        guard let leaving else { return nil }
        for waiter in leaving { waiter.suspension.resume() }
        return waiter
    }

    /// Leaves the queue, with the permit that was granted, however the wait ended.
    func leave(_ waiter: Waiter) -> Permit? {
        state.withLock { state in
            // One that has its permit isn't in the queue any more.
            if let permit = waiter.permit.take() { return permit }
            if waiter.isSheddable {
                Self.remove(waiter, from: &state.sheddable)
            } else {
                Self.remove(waiter, from: &state.ordinary)
            }
            return nil
        }
    }

    private static func remove(_ waiter: Waiter, from queue: inout [Waiter]) {
        if let place = queue.firstIndex(where: { $0 === waiter }) { queue.remove(at: place) }
    }

    /// Counts a response whose permit is still held.
    func answered(after time: Int64, at now: Int64) {
        let granted = state.withLock { state in
            state.answered(after: time, at: now)
            return admitNext(&state)
        }
        for waiter in granted { waiter.suspension.resume() }
    }

    /// Lowers the limit of a server that can't keep up, and gives the limit before and after, if it has changed.
    func failed(begunAt start: Int64, at now: Int64) -> (before: Int, after: Int)? {
        state.withLock { state in
            let before = state.limit
            guard state.adaptive?.failed(begunAt: start, at: now) == true, state.limit < before else { return nil }
            return (before, state.limit)
        }
    }

    private func giveBack(_ latency: Int64, at now: Int64) {
        let granted = state.withLock { state in
            if latency >= 0 { state.answered(after: latency, at: now) }
            state.inFlight -= 1
            return admitNext(&state)
        }
        for waiter in granted { waiter.suspension.resume() }
    }

    /// Grants free permits: to those who came first, and under pressure to those who came last, since the others are likely to have been
    /// given up by the time they would be answered.
    ///
    /// - Returns: Those to be resumed, outside the lock.
    private func admitNext(_ state: inout State) -> [Waiter] {
        var granted: [Waiter] = []
        while state.queued > 0, state.hasPermit(isSheddable: state.ordinary.isEmpty) {
            let isPressed = state.queued * 2 > places
            func takeNext(of queue: inout [Waiter]) -> Waiter { isPressed ? queue.removeLast() : queue.removeFirst() }
            let waiter = state.ordinary.isEmpty ? takeNext(of: &state.sheddable) : takeNext(of: &state.ordinary)
            waiter.permit = Permit(self)
            state.inFlight += 1
            granted.append(waiter)
        }
        return granted
    }
}
