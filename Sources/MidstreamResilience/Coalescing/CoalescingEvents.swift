internal import MidstreamCore

extension CallEvent {
    /// Several calls at the same time were answered by the one that was made.
    static func coalesced(calls: Int, isMade: Bool) -> CallEvent {
        CallEvent(
            "coalesced",
            isMade ? "answers \(calls) equal calls at once" : "takes the answer of an equal call, which is that of \(calls)",
            ["calls": .count(calls), "made": .boolean(isMade)])
    }
}
