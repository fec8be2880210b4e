internal import MidstreamCore

extension CallEvent {
    /// A request wasn't sent, since too many to this key were under way.
    static func overloaded(key: String, inFlight: Int, limit: Int, queued: Int) -> CallEvent {
        CallEvent(
            "concurrency.refused",
            "refused: \(inFlight) of \(limit) requests to \(key) are under way\(queued > 0 ? ", \(queued) wait" : "")",
            ["key": .string(key), "in-flight": .count(inFlight), "limit": .count(limit), "queued": .count(queued)])
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
