internal import MidstreamCore

extension CallEvent {
    /// A request wasn't sent, since too many to this key were under way.
    static func overloaded(key: String, state: ConcurrencyLimit.State) -> CallEvent {
        CallEvent(
            "concurrency.refused",
            "refused: \(state.inFlight) of \(state.limit) requests to \(key) are under way"
                + (state.queued > 0 ? ", \(state.queued) wait" : ""),
            [
                "key": .string(key), "in-flight": .count(state.inFlight), "limit": .count(state.limit),
                "queued": .count(state.queued),
            ])
    }

    /// A request waited until another one had ended.
    static func concurrencyWait(key: String, wait: Duration) -> CallEvent {
        CallEvent(
            "concurrency.wait", "waited \(wait.brief) for one of the requests to \(key) to end",
            ["key": .string(key), "wait": .seconds(wait)])
    }

    /// The limit was lowered, since a server couldn't keep up; the reason is what the exchange ended with.
    static func limitLowered(key: String, before: Int, after: Int, reason: String) -> CallEvent {
        CallEvent(
            "concurrency.lowered", "limit of \(key) lowered from \(before) to \(after): \(reason)",
            ["key": .string(key), "before": .count(before), "after": .count(after), "reason": .string(reason)])
    }
}
