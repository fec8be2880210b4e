internal import Interception
internal import MidstreamCacheStore

/// The URLs that this member has read, by the names that the store has for them: what it says of those concerns near caches.
final class NearKeys: Sendable {
    private static let most = 30_000

    private struct Known {
        /// By name. Without owners, since near caches forget a URL for all of them.
        private var urls: [String: Set<String>] = [:]
        /// How many there are in all sets together.
        private(set) var count = 0

        mutating func insert(_ url: String, as name: String) {
            if urls[name, default: []].insert(url).inserted { count += 1 }
        }

        mutating func remove(_ name: String) -> Set<String> {
            let removed = urls.removeValue(forKey: name) ?? []
            count -= removed.count
            return removed
        }

        mutating func removeAll() -> Set<String> {
            defer { (urls, count) = ([:], 0) }
            return urls.values.reduce(into: []) { $0.formUnion($1) }
        }
    }

    private let names: FleetNames
    private let known = Locked(Known())
    let forgotten = Broadcast<CacheKey>(keeping: most)

    init(_ names: FleetNames) { self.names = names }

    /// Remembers a key that is read. With too many, all are forgotten, here and in near caches.
    func note(_ key: CacheKey, _ names: ResponseKeys) {
        guard forgotten.hasStreams else { return }
        let isFull = known.withLock { known in
            for name in [names.responses] + names.stamps.dropFirst() { known.insert(key.url, as: name) }
            return known.count > Self.most
        }
        if isFull { forget(nil) }
    }

    /// Tells near caches what is no longer so, by its names in the store; nil: all.
    func forget(_ changed: [String]?) {
        let urls = known.withLock { known -> Set<String> in
            guard let changed, !changed.contains(names.everything) else { return known.removeAll() }
            var urls: Set<String> = []
            for name in changed { urls.formUnion(known.remove(name)) }
            return urls
        }
        for url in urls { forgotten.send(CacheKey(url: url)) }
    }
}
