extension CallEvent {
    /// The arbiter tries again after this attempt, 1 for the first.
    static func retry(attempt: Int, outcome: String, status: Int?, delay: Duration) -> CallEvent {
        CallEvent(
            "retry", "attempt \(attempt): \(outcome); again \(delay > .zero ? "in \(delay)" : "at once")",
            [
                "attempt": .count(attempt), "outcome": .string(outcome), "status": status.map { .count($0) },
                "delay": .seconds(delay),
            ])
    }

    /// A validator asked for another attempt, which isn't made for this reason.
    static func noRetry(attempt: Int, outcome: String, status: Int?, reason: String) -> CallEvent {
        CallEvent(
            "retry.none", "attempt \(attempt): \(outcome); not again: \(reason)",
            [
                "attempt": .count(attempt), "outcome": .string(outcome), "status": status.map { .count($0) },
                "reason": .string(reason),
            ])
    }

    /// The origin asked to be left alone for a while. The request waits, or fails since the deadline comes first.
    static func pacing(wait: Duration, isSent: Bool) -> CallEvent {
        CallEvent(
            "retry.pacing",
            isSent
                ? "waits \(wait), as the server has asked other calls to"
                : "not sent: the origin is to be left alone for \(wait), past the deadline",
            ["wait": .seconds(wait), "sent": .boolean(isSent)])
    }

    /// A request, given here without secrets, was sent in place of one that failed, before that is tried again.
    static func alternate(request: String, outcome: String, status: Int?, isShared: Bool) -> CallEvent {
        CallEvent(
            "alternate",
            status == nil
                ? "alternate \(request) failed: \(outcome)"
                : "alternate \(request): \(outcome)\(isShared ? ", shared with another call" : "")",
            [
                "request": .string(request), "outcome": .string(outcome), "status": status.map { .count($0) },
                "shared": .boolean(isShared),
            ])
    }
}
