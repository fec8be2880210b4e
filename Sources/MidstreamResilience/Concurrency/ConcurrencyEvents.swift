public import MidstreamCore

extension CallEvents {
    /// A request wasn't sent, since too many were under way.
    public struct Overloaded: CallEvent, Hashable {
        /// `concurrency.refused`
        public static let name = "concurrency.refused"
        /// Whose limit it is: an origin, or another key.
        public let key: String
        /// How many were under way.
        public let inFlight: Int
        /// How many may be.
        public let limit: Int
        /// How many waited.
        public let queued: Int

        /// `key`, `in-flight`, `limit`, `queued`
        public var attributes: [String: EventValue] {
            ["key": .string(key), "in-flight": .count(inFlight), "limit": .count(limit), "queued": .count(queued)]
        }
        /// Such as `refused: 20 of 20 requests to https://a are under way`.
        public var description: String {
            "refused: \(inFlight) of \(limit) requests to \(key) are under way\(queued > 0 ? ", \(queued) wait" : "")"
        }
    }

    /// A request waited until another one had ended.
    public struct ConcurrencyWait: CallEvent, Hashable {
        /// `concurrency.wait`
        public static let name = "concurrency.wait"
        /// Whose limit it is.
        public let key: String
        /// For how long.
        public let wait: Duration

        /// `key`, `wait` in seconds
        public var attributes: [String: EventValue] { ["key": .string(key), "wait": .seconds(wait)] }
        /// Such as `waited 120 ms for one of the requests to https://a to end`.
        public var description: String { "waited \(wait.brief) for one of the requests to \(key) to end" }
    }

    /// The limit was lowered, since a server couldn't keep up.
    public struct LimitLowered: CallEvent, Hashable {
        /// `concurrency.lowered`
        public static let name = "concurrency.lowered"
        /// Whose limit it is.
        public let key: String
        /// The limit before.
        public let before: Int
        /// The limit from now on.
        public let after: Int
        /// What the exchange ended with.
        public let reason: String

        /// `key`, `before`, `after`, `reason`
        public var attributes: [String: EventValue] {
            ["key": .string(key), "before": .count(before), "after": .count(after), "reason": .string(reason)]
        }
        /// Such as `limit of https://a lowered from 20 to 18: timeout`.
        public var description: String { "limit of \(key) lowered from \(before) to \(after): \(reason)" }
    }
}
