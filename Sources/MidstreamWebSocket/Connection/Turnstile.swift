internal import Interception

/// Lets one task in at a time, in the order in which they come, urgent ones first.
struct Turnstile: Sendable {
    private struct State {
        var isTaken = false
        var urgent: [Suspension<Void>] = []
        var others: [Suspension<Void>] = []

        mutating func next() -> Suspension<Void>? {
            if !urgent.isEmpty { return urgent.removeFirst() }
            if !others.isEmpty { return others.removeFirst() }
            isTaken = false
            return nil
        }
    }

    private let state = Locked(State())

    /// - Throws: `CancellationError`; the task isn't in then.
    nonisolated(nonsending) func enter(isUrgent: Bool = false) async throws {
        let suspension = state.withLock { state -> Suspension<Void>? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let suspension = Suspension<Void>()
            if isUrgent { state.urgent.append(suspension) } else { state.others.append(suspension) }
            return suspension
        }
        guard let suspension else { return }
        if case .value = await suspension.wait() { return }
        throw CancellationError()
    }

    func leave() {
        while let next = state.withLock({ $0.next() }) {
            if next.resume() { return }
        }
    }
}
