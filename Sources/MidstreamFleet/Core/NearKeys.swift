internal import MidstreamCacheStore
internal import Interception

/// The keys that this member has read, by the names that the store has for them: what it says of those concerns near caches.
final class NearKeys: Sendable {
    private static let most = 10_000

    private let names: FleetNames
    private let keys = Locked<[String: Set<CacheKey>]>([:])
    let forgotten = Broadcast<CacheKey>(keeping: most)

    init(_ names: FleetNames) { self.names = names }

    /// Remembers a key that is read. With too many, all are forgotten, here and in near caches.
    func note(_ key: CacheKey, _ names: ResponseKeys) {
        guard forgotten.hasStreams else { return }
        let isFull = keys.withLock { keys in
            for name in [names.responses] + names.stamps.dropFirst() { keys[name, default: []].insert(key) }
            return keys.count > Self.most
        }
        if isFull { forget(nil) }
    }

    /// Tells near caches what is no longer so.
    ///
    /// - Parameter changed: Names in the store; nil: all.
    func forget(_ changed: [String]?) {
        let all = keys.withLock { keys in
            guard let changed, !changed.contains(names.everything) else {
                defer { keys = [:] }
                return Array(keys.values)
            }
            return changed.compactMap { keys.removeValue(forKey: $0) }
        }
        for key in all.reduce(into: Set(), { $0.formUnion($1) }) { forgotten.send(key) }
    }
}
