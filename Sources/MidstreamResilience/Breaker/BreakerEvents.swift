public import MidstreamCore

extension CallEvents {
    /// A circuit breaker has changed its state.
    public struct BreakerChanged: CallEvent, Hashable {
        /// `breaker.changed`
        public static let name = "breaker.changed"
        /// Whose breaker it is: an origin, or another key.
        public let key: String
        /// The state before.
        public let from: CircuitBreaker.State
        /// The state from now on.
        public let to: CircuitBreaker.State
        /// How many exchanges were looked at.
        public let exchanges: Int
        /// How many of them failed.
        public let failed: Int
        /// How many of them were slow.
        public let slow: Int
        /// What the last one ended with, in words.
        public let last: String

        /// `key`, `from`, `to`, `exchanges`, `failed`, `slow`, `last`
        public var attributes: [String: EventValue] {
            [
                "key": .string(key), "from": .string(from.name), "to": .string(to.name), "exchanges": .count(exchanges),
                "failed": .count(failed), "slow": .count(slow), "last": .string(last),
            ]
        }
        /// Such as `breaker of https://a: closed → open for 5.1 s: 14 of 20 failed, last: timeout`.
        public var description: String { "breaker of \(key): \(from.name) → \(to): \(figures)" }

        private var figures: String {
            if exchanges == 0 { return last }
            return "\(slow > failed ? "\(slow) of \(exchanges) were slow" : "\(failed) of \(exchanges) failed"), last: \(last)"
        }
    }

    /// A request wasn't sent, since a circuit breaker is open.
    public struct BreakerRefused: CallEvent, Hashable {
        /// `breaker.refused`
        public static let name = "breaker.refused"
        /// Whose breaker it is.
        public let key: String
        /// Its state.
        public let state: CircuitBreaker.State

        /// `key`, `state`, and `left`: for how many seconds more it is open
        public var attributes: [String: EventValue] {
            var attributes: [String: EventValue] = ["key": .string(key), "state": .string(state.name)]
            if case .open(let left) = state { attributes["left"] = .seconds(left) }
            return attributes
        }
        /// Such as `refused: the breaker of https://a is open for 3.2 s`.
        public var description: String { "refused: the breaker of \(key) is \(state)" }
    }

    /// A request finds out whether a server is well again.
    public struct BreakerProbe: CallEvent, Hashable {
        /// `breaker.probe`
        public static let name = "breaker.probe"
        /// Whose breaker it is.
        public let key: String

        /// `key`
        public var attributes: [String: EventValue] { ["key": .string(key)] }
        /// Such as `probes https://a, whose breaker is half open`.
        public var description: String { "probes \(key), whose breaker is half open" }
    }
}
