internal import MidstreamCore

extension CallEvent {
    /// A circuit breaker changed its state because of these exchanges, or by hand, without any.
    static func breakerChanged(
        key: String, from: CircuitBreaker.State, to state: CircuitBreaker.State, _ counts: FailureWindow.Counts, last: String
    ) -> CallEvent {
        let left: Duration? = if case .open(let time) = state { time } else { nil }
        let reason = counts.total == 0 ? last : "\(counts.text), last: \(last)"
        return CallEvent(
            "breaker.changed", "breaker of \(key): \(from.name) → \(state): \(reason)",
            [
                "key": .string(key), "from": .string(from.name), "to": .string(state.name),
                "exchanges": .count(counts.total), "failed": .count(counts.failed), "slow": .count(counts.slow),
                "last": .string(last), "left": left.map { .seconds($0) },
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
