public import MidstreamCore

extension CallEvents {
    /// Several calls at the same time were answered by one.
    public struct Coalesced: CallEvent, Hashable {
        /// `coalesced`
        public static let name = "coalesced"
        /// How many there were.
        public let calls: Int
        /// Whether this is the one that was made; the others took its answer.
        public let isMade: Bool

        /// `calls`, `made`
        public var attributes: [String: EventValue] { ["calls": .count(calls), "made": .boolean(isMade)] }
        /// Such as `takes the answer of an equal call, one of 3 that did`.
        public var description: String {
            isMade ? "answers \(calls) equal calls at once" : "takes the answer of an equal call, which is that of \(calls)"
        }
    }
}
