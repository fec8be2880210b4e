public import MidstreamCore

extension CallEvents {
    /// A request waited for its turn, or would have had to for too long.
    public struct QuotaWait: CallEvent, Hashable {
        /// `quota.wait`
        public static let name = "quota.wait"
        /// Whose quota it is: an origin, or another key.
        public let key: String
        /// For how long.
        public let wait: Duration
        /// Whether it waited; otherwise it wasn't sent.
        public let isSent: Bool

        /// `key`, `wait` in seconds, `sent`
        public var attributes: [String: EventValue] {
            ["key": .string(key), "wait": .seconds(wait), "sent": .boolean(isSent)]
        }
        /// Such as `waits 1.2 s for the quota of https://a`.
        public var description: String {
            isSent ? "waits \(wait.brief) for the quota of \(key)" : "refused: the quota of \(key) is used up for \(wait.brief)"
        }
    }

    /// A server has said how many more requests may be made, or to make fewer.
    public struct QuotaLearned: CallEvent, Hashable {
        /// `quota.learned`
        public static let name = "quota.learned"
        /// Whose quota it is.
        public let key: String
        /// How many are left; nil: not said.
        public let left: Int?
        /// For how long; nil: not said.
        public let time: Duration?
        /// Whether that holds only for requests with the same credentials, as of a partition of the quota.
        public let isOfPartition: Bool
        /// The field that isn't what it should be and was ignored; nil: none.
        public let malformed: String?

        /// `key`, `partition`, and `left`, `time` in seconds, `malformed`
        public var attributes: [String: EventValue] {
            var attributes: [String: EventValue] = ["key": .string(key), "partition": .boolean(isOfPartition)]
            if let left { attributes["left"] = .count(left) }
            if let time { attributes["time"] = .seconds(time) }
            if let malformed { attributes["malformed"] = .string(malformed) }
            return attributes
        }
        /// Such as `https://a leaves 3 requests for 20.0 s`.
        public var description: String {
            if let malformed { return "\(malformed) of \(key) can't be read and is ignored" }
            let time = (time.map { " for \($0.brief)" } ?? "") + (isOfPartition ? " to those with these credentials" : "")
            return left.map { "\(key) leaves \($0) requests\(time)" } ?? "\(key) asks to be left alone\(time)"
        }
    }
}
