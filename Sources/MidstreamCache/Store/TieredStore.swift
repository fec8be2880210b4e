internal import Interception
public import MidstreamCore

/// Two stores: a quick one, whose entries are also in a larger one behind it.
///
/// What is read from the larger one and isn't too long is put into the quick one as well. Where other processes share the larger one, what they
/// forget stays in this one's quick store until it is stale there.
public struct TieredStore: CacheStore {
    private let near: any CacheStore
    private let far: any CacheStore
    /// Which entries the far store has, of keys that were asked for lately: where the near one has them all it answers alone.
    private let known = Locked<[CacheKey: Set<UInt64>]>([:])
    private let copiedBytes: Int64

    /// Makes a store of two.
    ///
    /// - Parameters:
    ///   - near: The quick one, such as a ``MemoryCacheStore``.
    ///   - far: The larger one.
    ///   - copiedBytes: Up to how many bytes a body is put into the quick one when it is read; 1 MiB by default.
    public init(_ near: any CacheStore, _ far: any CacheStore, copiedBytes: Int64 = 1 << 20) {
        self.near = near
        self.far = far
        self.copiedBytes = copiedBytes
    }

    /// Both names.
    public var name: String { "\(near.name) and \(far.name)" }

    /// Whether both do.
    public var boundsItsTime: Bool { near.boundsItsTime && far.boundsItsTime }

    /// Those of the larger one.
    public func salt() async throws -> [UInt8] { try await far.salt() }

    /// The entries of a key, the newest first.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] {
        if let ids = known.withLock({ $0[key] }), let entries = try? await near.entries(for: key), Set(entries.map(\.id)) == ids {
            return entries
        }
        let entries = try await far.entries(for: key)
        remember(key, Set(entries.map(\.id)))
        return entries
    }

    /// The bytes of an entry, from the quick one where it has them.
    public func body(of entry: CacheEntry, range: Range<Int64>?) async throws -> HTTPBody {
        if let body = try? await near.body(of: entry, range: range) { return body }
        let body = try await far.body(of: entry, range: range)
        guard range == nil, entry.isWhole, let length = entry.length, length <= copiedBytes else { return body }
        let bytes = try await body.collect(upTo: Int(length))
        if let writer = try? await near.writer(for: entry, at: 0) {
            do {
                if !bytes.isEmpty { try await writer.write(bytes) }
                try await writer.commit(entry)
            } catch {
                await writer.abandon()
            }
        }
        return .bytes(bytes)
    }

    /// Takes bytes for both.
    public func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter {
        // More bytes of an entry may be of one that only the larger one has.
        let isMore = offset != 0
        return Writer(
            near: isMore ? nil : try? await near.writer(for: entry, at: 0), far: try await far.writer(for: entry, at: offset)
        ) { isWhole in
            if isMore || !isWhole { try? await near.remove(entry.key) }
            forget(entry.key)
        }
    }

    /// Replaces the head of an entry in both.
    public func update(_ entry: CacheEntry) async throws -> Bool {
        _ = try? await near.update(entry)
        return try await far.update(entry)
    }

    /// Forgets the entries of a URL in both.
    public func remove(_ key: CacheKey) async throws {
        try? await near.remove(key)
        known.withLock { known in
            for other in known.keys where other.url == key.url { known[other] = nil }
        }
        try await far.remove(key)
    }

    /// Forgets the entries of an origin, or all, in both.
    public func removeAll(origin: String?) async throws {
        try? await near.removeAll(origin: origin)
        known.withLock { $0 = [:] }
        try await far.removeAll(origin: origin)
    }

    private func remember(_ key: CacheKey, _ ids: Set<UInt64>) {
        known.withLock { known in
            if known.count >= 10_000 { known = [:] }
            known[key] = ids
        }
    }

    private func forget(_ key: CacheKey) { known.withLock { $0[key] = nil } }

    private struct Writer: CacheWriter {
        let near: (any CacheWriter)?
        let far: any CacheWriter
        let onCommit: @Sendable (_ isWhole: Bool) async -> Void
        private let isNearOpen = Locked(true)

        init(
            near: (any CacheWriter)?, far: any CacheWriter, onCommit: @escaping @Sendable (_ isWhole: Bool) async -> Void
        ) {
            self.near = near
            self.far = far
            self.onCommit = onCommit
        }

        func write(_ bytes: [UInt8]) async throws {
            await withNear { try await $0.write(bytes) }
            try await far.write(bytes)
        }

        func commit(_ entry: CacheEntry) async throws {
            try await far.commit(entry)
            await withNear { try await $0.commit(entry) }
            await onCommit(entry.isWhole)
        }

        func abandon() async {
            await near?.abandon()
            await far.abandon()
        }

        /// What is too large for the quick store goes to the other all the same.
        private func withNear(_ work: (any CacheWriter) async throws -> Void) async {
            guard let near, isNearOpen.withLock({ $0 }) else { return }
            do {
                try await work(near)
            } catch {
                isNearOpen.withLock { $0 = false }
                await near.abandon()
            }
        }
    }
}
