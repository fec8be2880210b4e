public import MidstreamCore

/// Where a cache keeps its entries.
///
/// Everything may fail, and be slow: to the cache that is a miss and a note, never an error of the call. All members may be called from
/// any task at any time.
public protocol CacheStore: Sendable {
    /// What explanations call it, such as “memory”.
    var name: String { get }

    /// Whether it sees to it by itself that no answer takes long; false by default, and the cache then gives up after a second.
    var boundsItsTime: Bool { get }

    /// Counts removals: one object for the life of the store. ``remove(_:)`` and ``removeAll(origin:)`` note in it what they remove, once
    /// and before they do.
    var removals: CacheRemovals { get }

    /// Random bytes by which values of secret fields are hashed before they become part of keys and entries: those of the store when its
    /// entries outlive the process, by default those of the process.
    func salt() async throws -> [UInt8]

    /// The entries of a key, the newest first.
    func entries(for key: CacheKey) async throws -> [CacheEntry]

    /// The same where the store knows them without waiting, as one in memory does; nil: ``entries(for:)`` is called. Nil by default.
    func entriesNow(for key: CacheKey) -> [CacheEntry]?

    /// The stored bytes of an entry. They stay readable though the entry is evicted meanwhile.
    ///
    /// - Parameter range: Which, by their places in the representation; nil: all of a whole entry.
    /// - Throws: When they aren't there.
    func body(of entry: CacheEntry, range: Range<Int64>?) async throws -> HTTPBody

    /// The same where the store has the bytes at hand; nil: ``body(of:range:)`` is called. Nil by default.
    func bodyNow(of entry: CacheEntry, range: Range<Int64>?) -> HTTPBody?

    /// Takes the bytes of an entry that is new, or more bytes of one that is there.
    ///
    /// - Parameter offset: The place in the representation of the first byte that will be written.
    func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter

    /// The same for bytes that are all there, where the store needn't wait to take them; nil, with nothing taken: ``writer(for:at:)`` is
    /// called. Nil by default.
    ///
    /// - Parameters:
    ///   - entry: As ``CacheWriter/commit(_:if:)`` gets it, and `isCurrent` as well.
    ///   - offset: The place in the representation of the first byte.
    /// - Returns: Whether they are stored, as ``CacheWriter/commit(_:if:)`` says it.
    func storeNow(
        _ bytes: [UInt8], of entry: CacheEntry, at offset: Int64, if isCurrent: () -> Bool
    ) throws -> Bool?

    /// Replaces the head of an entry.
    ///
    /// - Returns: Whether the body was still that entry's; otherwise nothing is replaced.
    func update(_ entry: CacheEntry) async throws -> Bool

    /// Forgets all entries of a key's URL, of all owners.
    func remove(_ key: CacheKey) async throws

    /// Forgets all entries of an origin (``CacheKey/origin``); nil: all there are.
    func removeAll(origin: String?) async throws
}

extension CacheStore {
    /// False.
    public var boundsItsTime: Bool { false }

    /// Nil.
    public func entriesNow(for key: CacheKey) -> [CacheEntry]? { nil }

    /// Nil.
    public func bodyNow(of entry: CacheEntry, range: Range<Int64>?) -> HTTPBody? { nil }

    /// Nil.
    public func storeNow(
        _ bytes: [UInt8], of entry: CacheEntry, at offset: Int64, if isCurrent: () -> Bool
    ) throws -> Bool? { nil }

    /// Those of the process.
    public func salt() async throws -> [UInt8] { processSalt }
}

private let processSalt = Fingerprint.randomSalt()

/// Takes the bytes of one entry, one call after the other. One of ``commit(_:if:)`` and ``abandon()`` is called at the end, and when the writer
/// is released before, that is the same as the latter.
public protocol CacheWriter: Sendable {
    /// Takes the next bytes. After it threw, nothing but ``abandon()`` is called.
    func write(_ bytes: [UInt8]) async throws

    /// Makes what was written a part of the entry, which from then on is found, and takes the place of those that it replaces
    /// (``CacheEntry/replaces(_:)``), unless it is behind one of them (``CacheEntry/isBehind(_:)``).
    ///
    /// - Parameters:
    ///   - entry: The entry as it now is, the ranges that were written included.
    ///   - isCurrent: Whether nothing was removed meanwhile that makes the entry wrong. Called within the store's own transaction or lock,
    ///     so that a removal comes either before the question or after the entry.
    /// - Returns: Whether the entry is stored: not if `isCurrent` says false, nor if it is behind another.
    func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool

    /// Forgets what was written.
    func abandon() async
}
