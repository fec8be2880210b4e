internal import Interception
internal import MidstreamCache

/// The keys that this member has read, by the names that the store has for them: what it says of those concerns near caches.
final class NearKeys: Sendable {
    private struct State {
        var keys: [String: Set<CacheKey>] = [:]
        var count = 0
        var streams: [Int: AsyncStream<CacheKey>.Continuation] = [:]
        var next = 0
        var isClosed = false
    }

    private static let most = 10_000
    private let names: FleetNames
    private let state = Locked(State())

    init(_ names: FleetNames) { self.names = names }

    func stream() -> AsyncStream<CacheKey> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.most)) { continuation in
            let number = state.withLock { state -> Int? in
                guard !state.isClosed else { return nil }
                state.next += 1
                state.streams[state.next] = continuation
                return state.next
            }
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.streams[number] = nil } }
        }
    }

    /// Remembers a key that is read. With too many, all are forgotten, here and in near caches.
    func note(_ key: CacheKey, _ names: ResponseKeys) {
        let isFull = state.withLock { state in
            guard !state.streams.isEmpty else { return false }
            for name in [names.responses] + names.stamps.dropFirst() {
                if state.keys[name, default: []].insert(key).inserted { state.count += 1 }
            }
            return state.count > 3 * Self.most
        }
        if isFull { forget(nil) }
    }

    /// Tells near caches what is no longer so.
    ///
    /// - Parameter changed: Names in the store; nil: all.
    func forget(_ changed: [String]?) {
        let (forgotten, streams) = state.withLock { state -> (Set<CacheKey>, [AsyncStream<CacheKey>.Continuation]) in
            var forgotten: Set<CacheKey> = []
            if let changed, !changed.contains(names.everything) {
                for name in changed {
                    guard let keys = state.keys.removeValue(forKey: name) else { continue }
                    state.count -= keys.count
                    forgotten.formUnion(keys)
                }
            } else {
                forgotten = state.keys.values.reduce(into: []) { $0.formUnion($1) }
                state.keys = [:]
                state.count = 0
            }
            return (forgotten, Array(state.streams.values))
        }
        for stream in streams { for key in forgotten { stream.yield(key) } }
    }

    func close() {
        let streams = state.withLock { state in
            state.isClosed = true
            defer { (state.streams, state.keys, state.count) = ([:], [:], 0) }
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
