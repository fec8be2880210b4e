internal import MidstreamCore

extension CallEvent {
    /// A second exchange was begun after this time, or wasn't, since the budget is used up.
    static func hedge(key: String, after: Duration, isSent: Bool) -> CallEvent {
        CallEvent(
            "hedge",
            "no answer after \(after.brief): "
                + (isSent ? "sends it a second time" : "would send it a second time, but the budget is used up"),
            ["key": .string(key), "after": .seconds(after), "sent": .boolean(isSent)])
    }

    /// A second exchange wasn't sent after all: an interceptor further in has refused it.
    static func hedgeRefused(key: String, reason: HTTPError.Code) -> CallEvent {
        CallEvent(
            "hedge.refused", "the second wasn't sent: \(reason.rawValue)",
            ["key": .string(key), "reason": .string(reason.rawValue)])
    }

    /// One of two exchanges won; the time counts from the beginning of the first.
    static func hedgeWon(isSecond: Bool, time: Duration) -> CallEvent {
        CallEvent(
            "hedge.won", "the \(isSecond ? "second" : "first") answered first, after \(time.brief)",
            ["second": .boolean(isSecond), "time": .seconds(time)])
    }
}
