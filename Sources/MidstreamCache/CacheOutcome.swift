internal import MidstreamCore

extension CallEvent {
    /// How the cache handled a request, and why, such as `answered from memory, fresh for 42 s`; the attributes are those of RFC 9211
    /// as far as they are known.
    static func cacheOutcome(_ status: CacheStatus, _ text: String, from store: String? = nil) -> CallEvent {
        CallEvent(
            "cache.outcome", text,
            [
                "hit": .boolean(status.isHit), "stored": .boolean(status.isStored), "collapsed": .boolean(status.isCollapsed),
                "forward": status.forward.map { .string($0.rawValue) }, "ttl": status.ttl.map { .count($0) },
                "store": store.map { .string($0) },
            ])
    }
}
