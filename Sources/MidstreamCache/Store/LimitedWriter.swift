internal import MidstreamCacheStore
internal import MidstreamCore

/// The writer of a store that doesn't bound its time: what takes too long is given up, so that no body waits for it.
struct LimitedWriter: CacheWriter {
    let writer: any CacheWriter
    let limit: TimeLimit

    func write(_ bytes: [UInt8]) async throws { try await limited { [writer] in try await writer.write(bytes) } }

    func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool {
        try await limited { [writer] in try await writer.commit(entry, if: isCurrent) }
    }

    func abandon() async { try? await limited { [writer] in await writer.abandon() } }

    /// What the store has done counts, though the reader has left or the time was over meanwhile.
    private func limited<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await limit.obtain(error: { _ in .timedOut() }, work)
    }
}
