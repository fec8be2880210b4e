internal import Interception

/// Lets one task in at a time, in the order in which they come, urgent ones first.
struct Turnstile: Sendable {
    /// Nobody is let in any more.
    struct Closed: Error {}

    private struct State {
        var isTaken = false
        var isClosed = false
        /// Waiters; true lets one in.
        var urgent = Queue<Suspension<Bool>>()
        var others = Queue<Suspension<Bool>>()
        /// With so many, those that don't wait any more are let go of: who is in may never leave.
        private var mostOthers = 16

        mutating func append(_ suspension: Suspension<Bool>) {
            if others.count >= mostOthers {
                others = Queue(others.all.filter { !$0.isOver })
                mostOthers = max(16, 2 * others.count)
            }
            others.append(suspension)
        }

        mutating func next() -> Suspension<Bool>? {
            if let next = urgent.popFirst() ?? others.popFirst() { return next }
            isTaken = false
            return nil
        }
    }

    private let state = Locked(State())

    /// Whether somebody is in.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// How many are in line, of whom some may not wait any more.
    var lineLength: Int { state.withLock { $0.urgent.count + $0.others.count } }

    /// - Throws: `CancellationError`, ``Closed``; the task isn't in then.
    nonisolated(nonsending) func enter(isUrgent: Bool = false) async throws {
        let suspension = try state.withLock { state throws -> Suspension<Bool>? in
            guard !state.isClosed else { throw Closed() }
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let suspension = Suspension<Bool>()
            if isUrgent { state.urgent.append(suspension) } else { state.append(suspension) }
            return suspension
        }
        guard let suspension else { return }
        guard case .value(let isIn) = await suspension.wait() else { throw CancellationError() }
        if !isIn { throw Closed() }
    }

    func leave() {
        while let next = state.withLock({ $0.next() }) {
            if next.resume(true) { return }
        }
    }

    /// Turns away those who wait and those who come, also while somebody is in.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { (state.urgent, state.others) = (Queue(), Queue()) }
            return state.urgent.all + state.others.all
        }
        for suspension in waiting { suspension.resume(false) }
    }
}
