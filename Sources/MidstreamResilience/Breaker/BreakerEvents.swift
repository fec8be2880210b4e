internal import MidstreamCore

extension CallEvent {
    /// A circuit breaker changed its state.
    static func breakerChanged(_ change: Circuit.Change, of circuit: Circuit) -> CallEvent {
        let counts = change.counts
        let figures =
            counts.slow > counts.failed
            ? "\(counts.slow) of \(counts.total) were slow" : "\(counts.failed) of \(counts.total) failed"
        let left: Duration? = if case .open(let time) = change.to { time } else { nil }
        let reason = counts.total == 0 ? change.last : "\(figures), last: \(change.last)"
        return CallEvent(
            "breaker.changed", "breaker of \(circuit.key): \(change.from.name) → \(change.to): \(reason)",
            [
                "key": .string(circuit.key), "from": .string(change.from.name), "to": .string(change.to.name),
                "exchanges": .count(counts.total), "failed": .count(counts.failed), "slow": .count(counts.slow),
                "last": .string(change.last), "left": left.map { .seconds($0) },
            ])
    }

    /// A request wasn't sent, since the breaker of this key is open.
    static func breakerRefused(key: String, state: CircuitBreaker.State) -> CallEvent {
        let left: Duration? = if case .open(let time) = state { time } else { nil }
        return CallEvent(
            "breaker.refused", "refused: the breaker of \(key) is \(state)",
            ["key": .string(key), "state": .string(state.name), "left": left.map { .seconds($0) }])
    }

    /// A request finds out whether a server is well again.
    static func breakerProbe(key: String) -> CallEvent {
        CallEvent("breaker.probe", "probes \(key), whose breaker is half open", ["key": .string(key)])
    }
}
