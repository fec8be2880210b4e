internal import Interception
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

    private func limited<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let done = Locked<Value?>(nil)
        do {
            return try await limit.run(error: { _ in .timedOut() }) {
                let value = try await work()
                done.withLock { $0 = value }
                return value
            }
        } catch {
            // What the store has done counts, though the reader has left or the time was over meanwhile.
            guard let value = done.withLock({ $0 }) else { throw error }
            return value
        }
    }
}
