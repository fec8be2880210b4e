extension CallEvents {
    /// The arbiter has decided to try again.
    public struct Retry: CallEvent, Hashable {
        /// `retry`
        public static let name = "retry"
        /// The attempt that ended, 1 for the first.
        public let attempt: Int
        /// What it ended with, in words.
        public let outcome: String
        /// The status that it ended with; nil when no response came.
        public let status: Int?
        /// How long the next one waits.
        public let delay: Duration

        /// `attempt`, `outcome`, `delay` in seconds, and `status`
        public var attributes: [String: EventValue] {
            var attributes: [String: EventValue] = [
                "attempt": .count(attempt), "outcome": .string(outcome), "delay": .seconds(delay),
            ]
            if let status { attributes["status"] = .count(status) }
            return attributes
        }
        /// Such as `attempt 1: 503 Service Unavailable; again in 0.5 seconds`.
        public var description: String {
            "attempt \(attempt): \(outcome); again \(delay > .zero ? "in \(delay)" : "at once")"
        }
    }

    /// A validator has asked for another attempt, and there is none.
    public struct NoRetry: CallEvent, Hashable {
        /// `retry.none`
        public static let name = "retry.none"
        /// The attempt that ended, 1 for the first.
        public let attempt: Int
        /// What it ended with, in words.
        public let outcome: String
        /// The status that it ended with; nil when no response came.
        public let status: Int?
        /// Why there is no other.
        public let reason: String

        /// `attempt`, `outcome`, `reason`, and `status`
        public var attributes: [String: EventValue] {
            var attributes: [String: EventValue] = [
                "attempt": .count(attempt), "outcome": .string(outcome), "reason": .string(reason),
            ]
            if let status { attributes["status"] = .count(status) }
            return attributes
        }
        /// Such as `attempt 4: 503 Service Unavailable; not again: …`.
        public var description: String { "attempt \(attempt): \(outcome); not again: \(reason)" }
    }

    /// The origin has asked that it be left alone for a while.
    public struct Pacing: CallEvent, Hashable {
        /// `retry.pacing`
        public static let name = "retry.pacing"
        /// For how long.
        public let wait: Duration
        /// Whether the request waits; otherwise it isn't sent, since the deadline comes first.
        public let isSent: Bool

        /// `wait` in seconds, `sent`
        public var attributes: [String: EventValue] { ["wait": .seconds(wait), "sent": .boolean(isSent)] }
        /// Such as `waits 2.0 seconds, as the server has asked other calls to`.
        public var description: String {
            isSent
                ? "waits \(wait), as the server has asked other calls to"
                : "not sent: the origin is to be left alone for \(wait), past the deadline"
        }
    }
    /// A request was sent in place of one that failed, before that is tried again.
    public struct Alternate: CallEvent, Hashable {
        /// `alternate`
        public static let name = "alternate"
        /// The request, without secrets.
        public let request: String
        /// What it ended with, in words.
        public let outcome: String
        /// The status of its response; nil when it failed.
        public let status: Int?
        /// Whether another call's exchange has served it.
        public let isShared: Bool

        /// `request`, `outcome`, `shared`, and `status`
        public var attributes: [String: EventValue] {
            var attributes: [String: EventValue] = [
                "request": .string(request), "outcome": .string(outcome), "shared": .boolean(isShared),
            ]
            if let status { attributes["status"] = .count(status) }
            return attributes
        }
        /// Such as `alternate POST https://a/login: 200 OK`.
        public var description: String {
            guard status != nil else { return "alternate \(request) failed: \(outcome)" }
            return "alternate \(request): \(outcome)\(isShared ? ", shared with another call" : "")"
        }
    }
}
