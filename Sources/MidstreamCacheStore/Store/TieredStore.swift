internal import Interception
public import MidstreamCore

/// Two stores: a quick one, whose entries are also in a larger one behind it.
///
/// What is read from the larger one and isn't too long is put into the quick one as well. Where other processes share the larger one, what they
/// forget stays in this one's quick store until it is stale there, unless the store of these processes says what that was (`forgetting`).
public struct TieredStore: CacheStore {
    private let near: any CacheStore
    private let far: any CacheStore
    /// Which entries the far store has, of keys that were asked for lately: where the near one has them all it answers alone.
    private let known = Locked(Known())
    private let copiedBytes: Int64
    /// How long it is trusted what the far store has; nil: while nothing is stored or removed.
    private let trust: Duration?
    private let forgetting: Forgetting?
    /// Its removals.
    public let removals = CacheRemovals()

    private struct Known {
        private(set) var ids: [CacheKey: (ids: [UInt64], end: ContinuousClock.Instant?)] = [:]
        /// The keys of ``ids``, by URL.
        private var keys: [String: Set<CacheKey>] = [:]
        /// What was stored and removed: what a lookup in the far store brings that has begun before may be out of date.
        let changes = CacheRemovals()

        mutating func keep(_ ids: [UInt64], until end: ContinuousClock.Instant?, of key: CacheKey) {
            if self.ids.count >= 10_000 { (self.ids, keys) = ([:], [:]) }
            self.ids[key] = (ids, end)
            keys[key.url, default: []].insert(key)
        }

        mutating func forget(_ key: CacheKey) {
            ids[key] = nil
            keys[key.url]?.remove(key)
            if keys[key.url]?.isEmpty == true { keys[key.url] = nil }
            changes.remove(key.url)
        }

        mutating func forget(url: String) {
            for key in keys.removeValue(forKey: url) ?? [] { ids[key] = nil }
            changes.remove(url)
        }

        mutating func forgetAll() {
            (ids, keys) = ([:], [:])
            changes.removeAll(origin: nil)
        }
    }

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
        trust = nil
        forgetting = nil
    }

    /// Makes a store of two, of which the larger one is shared with other processes.
    ///
    /// - Parameters:
    ///   - near: The quick one, such as a ``MemoryCacheStore``.
    ///   - far: The larger one.
    ///   - copiedBytes: Up to how many bytes a body is put into the quick one when it is read; 1 MiB by default.
    ///   - forgotten: What other processes replace or forget in the larger one; it is forgotten here as well. Read in a task of the store,
    ///     which ends with it.
    ///   - trust: How long the quick one answers alone after the larger one was asked, in case a message is lost; 5 s by default.
    public init(
        _ near: any CacheStore, _ far: any CacheStore, copiedBytes: Int64 = 1 << 20, forgetting forgotten: AsyncStream<CacheKey>,
        trust: Duration = .seconds(5)
    ) {
        self.near = near
        self.far = far
        self.copiedBytes = copiedBytes
        self.trust = trust
        let (known, removals) = (known, removals)
        forgetting = Forgetting(
            // Not a part of the call within which the store may be made.
            Task.detached {
                for await key in forgotten {
                    removals.remove(key.url)
                    known.withLock { $0.forget(url: key.url) }
                    try? await near.remove(key)
                }
            })
    }

    /// Cancels the task with the last copy of the store.
    private final class Forgetting: Sendable {
        private let task: Task<Void, Never>
        package init(_ task: Task<Void, Never>) { self.task = task }
        deinit { task.cancel() }
    }

    /// Which entries the far store has of a key, the newest first, as far as that is known for certain.
    private func trustedIDs(_ known: Known, _ key: CacheKey) -> [UInt64]? {
        guard let (ids, end) = known.ids[key] else { return nil }
        if let end, end <= .now { return nil }
        return ids
    }

    /// The near store's entries, which lists them as they were copied, in the far one's order; nil unless it has just these.
    private static func ordered(_ entries: [CacheEntry], by ids: [UInt64]) -> [CacheEntry]? {
        guard entries.count == ids.count else { return nil }
        if zip(entries, ids).allSatisfy({ $0.id == $1 }) { return entries }
        let ordered = ids.compactMap { id in entries.first { $0.id == id } }
        return ordered.count == ids.count ? ordered : nil
    }

    /// Both names.
    public var name: String { "\(near.name) and \(far.name)" }

    /// Whether both do.
    public var boundsItsTime: Bool { near.boundsItsTime && far.boundsItsTime }

    /// Those of the larger one.
    public func salt() async throws -> [UInt8] { try await far.salt() }

    /// The entries of a key, the newest first.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] {
        let ids = known.withLock { trustedIDs($0, key) }
        if let ids, let copies = try? await near.entries(for: key), let entries = Self.ordered(copies, by: ids) { return entries }
        let permit = known.withLock { $0.changes.permit() }
        let entries = try await far.entries(for: key)
        known.withLock { known in
            if permit.holds(for: key) { known.keep(entries.map(\.id), until: trust.map { .now + $0 }, of: key) }
        }
        return entries
    }

    /// The entries of a key where the quick one has all of them, and answers at once.
    public func entriesNow(for key: CacheKey) -> [CacheEntry]? {
        guard let ids = known.withLock({ trustedIDs($0, key) }), let entries = near.entriesNow(for: key) else { return nil }
        return Self.ordered(entries, by: ids)
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
                // A copy is made only of what is in the far store as far as is known.
                let isKnown: @Sendable () -> Bool = { [known] in
                    known.withLock { $0.ids[entry.key]?.ids.contains(entry.id) == true }
                }
                if try await !writer.commit(entry, if: isKnown) {
                    await writer.abandon()
                    // The near store keeps something else in its place, which the far one doesn't have.
                    if isKnown() { try? await near.remove(entry.key) }
                }
            } catch {
                await writer.abandon()
            }
        }
        return .bytes(bytes)
    }

    /// The bytes of an entry, if the quick one has them at hand.
    public func bodyNow(of entry: CacheEntry, range: Range<Int64>?) -> HTTPBody? { near.bodyNow(of: entry, range: range) }

    /// Takes bytes for both.
    public func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter {
        // More bytes of an entry may be of one that only the larger one has.
        let isMore = offset != 0
        return Writer(
            near: isMore ? nil : try? await near.writer(for: entry, at: 0), far: try await far.writer(for: entry, at: offset)
        ) { isCopied in
            if !isCopied { try? await near.remove(entry.key) }
            known.withLock { $0.forget(entry.key) }
        }
    }

    /// Replaces the head of an entry in both.
    public func update(_ entry: CacheEntry) async throws -> Bool {
        _ = try? await near.update(entry)
        return try await far.update(entry)
    }

    /// Forgets the entries of a URL in both.
    public func remove(_ key: CacheKey) async throws {
        removals.remove(key.url)
        try await removed { try await $0.remove(key) }
    }

    /// Forgets the entries of an origin, or all, in both.
    public func removeAll(origin: String?) async throws {
        removals.removeAll(origin: origin)
        try await removed { try await $0.removeAll(origin: origin) }
    }

    /// The far store comes first: what is copied from it before is removed from the near one, and afterwards nothing is.
    private func removed(_ remove: (any CacheStore) async throws -> Void) async throws {
        let removal = await Result<Void, any Error>.of { try await remove(far) }
        known.withLock { $0.forgetAll() }
        try? await remove(near)
        try removal.get()
    }

    private struct Writer: CacheWriter {
        let near: (any CacheWriter)?
        let far: any CacheWriter
        /// Told whether the quick one has the whole, too.
        let onCommit: @Sendable (_ isCopied: Bool) async -> Void
        private let isNearOpen = Locked(true)

        func write(_ bytes: [UInt8]) async throws {
            await withNear { try await $0.write(bytes) }
            try await far.write(bytes)
        }

        func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool {
            guard try await far.commit(entry, if: isCurrent) else {
                await near?.abandon()
                return false
            }
            let isNear = await withNear { try await $0.commit(entry, if: isCurrent) }
            await onCommit(entry.isWhole && isNear == true)
            return true
        }

        func abandon() async {
            await near?.abandon()
            await far.abandon()
        }

        /// What is too large for the quick store goes to the other all the same.
        ///
        /// - Returns: What came of it; nil where the quick store doesn't take it.
        @discardableResult
        private func withNear<Outcome: Sendable>(_ work: (any CacheWriter) async throws -> Outcome) async -> Outcome? {
            guard let near, isNearOpen.withLock({ $0 }) else { return nil }
            do {
                return try await work(near)
            } catch {
                isNearOpen.withLock { $0 = false }
                await near.abandon()
                return nil
            }
        }
    }
}
