public import MidstreamCore

extension CallEvents {
    /// How the cache handled a request, and why.
    public struct CacheOutcome: CallEvent, Hashable {
        /// `cache.outcome`
        public static let name = "cache.outcome"
        /// In the words of RFC 9211.
        public let status: CacheStatus
        /// Such as `answered from memory, fresh for 42 s`.
        public let description: String

        init(_ status: CacheStatus, _ text: String) {
            self.status = status
            description = text
        }

        /// `hit`, `forward`, `ttl`, `stored` and `collapsed`, as far as they are known.
        public var attributes: [String: EventValue] {
            var attributes: [String: EventValue] = [
                "hit": .boolean(status.isHit), "stored": .boolean(status.isStored), "collapsed": .boolean(status.isCollapsed),
            ]
            attributes["forward"] = status.forward.map { .string($0.rawValue) }
            attributes["ttl"] = status.ttl.map { .count($0) }
            return attributes
        }
    }
}
