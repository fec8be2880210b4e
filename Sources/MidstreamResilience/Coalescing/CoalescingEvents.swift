internal import MidstreamCore

extension CallEvent {
    /// Several calls at the same time were answered by one.
    ///
    /// - Parameters:
    ///   - calls: How many there were.
    ///   - isMade: Whether this is the one that was made; the others took its answer.
    static func coalesced(calls: Int, isMade: Bool) -> CallEvent {
        CallEvent(
            "coalesced",
            isMade ? "answers \(calls) equal calls at once" : "takes the answer of an equal call, which is that of \(calls)",
            ["calls": .count(calls), "made": .boolean(isMade)])
    }
}
