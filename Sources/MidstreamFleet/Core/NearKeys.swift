internal import Interception
internal import MidstreamCacheStore

/// The URLs that this member has read, by the names that the store has for them: what it says of those concerns near caches, and of removals
/// also responses that are on their way.
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

        subscript(name: String) -> Set<String> { urls[name] ?? [] }

        mutating func removeAll() -> Set<String> {
            defer { (urls, count) = ([:], 0) }
            return urls.values.reduce(into: []) { $0.formUnion($1) }
        }
    }

    private struct WeakRemovals { weak var removals: CacheRemovals? }

    private let names: FleetNames
    private let stores = Locked<[WeakRemovals]>([])
    private let known = Locked(Known())
    let forgotten = Broadcast<CacheKey>(keeping: most)

    init(_ names: FleetNames) { self.names = names }

    /// Has others' removals counted as those of a store of this member, so that nothing is stored that was fetched before.
    func count(in removals: CacheRemovals) {
        stores.withLock { stores in
            stores.removeAll { $0.removals == nil }
            stores.append(WeakRemovals(removals: removals))
        }
    }

    /// Remembers a key that is read. With too many, all are forgotten, here and in near caches.
    func note(_ key: CacheKey, _ names: ResponseKeys) {
        let isFull = known.withLock { known in
            for name in [names.responses] + names.stamps.dropFirst() { known.insert(key.url, as: name) }
            return known.count > Self.most
        }
        if isFull { forget(nil) }
    }

    /// Tells near caches what is no longer so, by its names in the store; nil: all.
    func forget(_ changed: [String]?) {
        let stores = stores.withLock { $0.compactMap(\.removals) }
        guard let changed, !changed.contains(names.everything) else {
            for removals in stores { removals.removeAll(origin: nil) }
            return send(known.withLock { $0.removeAll() })
        }
        var (removed, replaced): (Set<String>, Set<String>) = ([], [])
        known.withLock { known in
            for name in changed {
                // What is removed may be removed again before it is read again, while a response is on its way.
                if names.isStamp(name) {
                    removed.formUnion(known[name])
                } else {
                    replaced.formUnion(known.remove(name))
                }
            }
        }
        for removals in stores { for url in removed { removals.remove(url) } }
        send(removed.union(replaced))
    }

    private func send(_ urls: Set<String>) {
        for url in urls { forgotten.send(CacheKey(url: url)) }
    }
}
