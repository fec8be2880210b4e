internal import Interception
internal import MidstreamCacheStore

/// The URLs that this member has read, by the names that the store has for them, while it has near caches: what the store says of those
/// concerns them. Of removals that concerns all stores of the member, too, for responses that are on their way.
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
        guard forgotten.hasStreams else { return }
        let tooMany = known.withLock { known in
            for name in [names.responses] + names.stamps.dropFirst() { known.insert(key.url, as: name) }
            return known.count > Self.most ? known.removeAll() : []
        }
        send(tooMany)
    }

    /// Tells near caches what is no longer so, by its names in the store, and stores what is removed; nil: all.
    func forget(_ changed: [String]?) {
        let stores = stores.withLock { $0.compactMap(\.removals) }
        guard let changed, !changed.contains(names.everything) else {
            for removals in stores { removals.removeAll(origin: nil) }
            return send(known.withLock { $0.removeAll() })
        }
        let stamps = changed.filter(names.isStamp)
        for removals in stores { for name in stamps { removals.remove(named: name) } }
        let urls = known.withLock { known in
            changed.reduce(into: Set<String>()) { urls, name in
                // What is removed may be removed again before it is read again, while a response is on its way.
                urls.formUnion(names.isStamp(name) ? known[name] : known.remove(name))
            }
        }
        send(urls)
    }

    private func send(_ urls: Set<String>) {
        for url in urls { forgotten.send(CacheKey(url: url)) }
    }
}
