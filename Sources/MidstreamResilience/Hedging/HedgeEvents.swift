public import MidstreamCore

extension CallEvents {
    /// A second exchange was begun, since the first took long, or would have been.
    public struct Hedge: CallEvent, Hashable {
        /// `hedge`
        public static let name = "hedge"
        /// Whose times it went by: an origin, or another key.
        public let key: String
        /// For how long the first had taken.
        public let after: Duration
        /// Whether it was begun; otherwise the budget is used up.
        public let isSent: Bool

        /// `key`, `after` in seconds, `sent`
        public var attributes: [String: EventValue] {
            ["key": .string(key), "after": .seconds(after), "sent": .boolean(isSent)]
        }
        /// Such as `no answer after 120 ms: sends it a second time`.
        public var description: String {
            "no answer after \(after.brief): "
                + (isSent ? "sends it a second time" : "would send it a second time, but the budget is used up")
        }
    }

    /// Which of two exchanges has won.
    public struct HedgeWon: CallEvent, Hashable {
        /// `hedge.won`
        public static let name = "hedge.won"
        /// Whether it was the second.
        public let isSecond: Bool
        /// How long it took from the beginning of the first.
        public let time: Duration

        /// `second`, `time` in seconds
        public var attributes: [String: EventValue] { ["second": .boolean(isSecond), "time": .seconds(time)] }
        /// Such as `the second answered first, after 210 ms`.
        public var description: String { "the \(isSecond ? "second" : "first") answered first, after \(time.brief)" }
    }
}
