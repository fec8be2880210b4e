internal import MidstreamCore

extension CallEvent {
    /// A request waited for its turn, or failed, since it would have had to wait for too long.
    static func quotaWait(key: String, wait: Duration, isSent: Bool) -> CallEvent {
        CallEvent(
            "quota.wait",
            isSent ? "waits \(wait.brief) for the quota of \(key)" : "refused: the quota of \(key) is used up for \(wait.brief)",
            ["key": .string(key), "wait": .seconds(wait), "sent": .boolean(isSent)])
    }

    /// A server announced how many more requests may be made, of all or of those with the same credentials, or asked for fewer.
    static func quotaLearned(
        key: String, left: Int?, time: Duration?, isThrottled: Bool, isOfPartition: Bool, malformed: String?
    ) -> CallEvent {
        let period = (time.map { " for \($0.brief)" } ?? "") + (isOfPartition ? " to those with these credentials" : "")
        let text =
            malformed.map { "\($0) of \(key) can't be read and is ignored" }
            ?? left.map { "\(key) leaves \($0) requests\(period)" }
            ?? "\(key) \(isThrottled ? "asks to be left alone" : "says what its policy is")\(period)"
        return CallEvent(
            "quota.learned", text,
            [
                "key": .string(key), "partition": .boolean(isOfPartition), "left": left.map { .count($0) },
                "time": time.map { .seconds($0) }, "malformed": malformed.map { .string($0) },
            ])
    }
}
