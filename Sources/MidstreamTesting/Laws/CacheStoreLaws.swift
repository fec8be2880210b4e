public import MidstreamCacheStore

/// The rules that any store of a cache has to follow (``CacheStore``).
public enum CacheStoreLaw: String, Sendable, Hashable, CaseIterable {
    /// An entry is found once it is committed, by its key and by no other, with its head and its bytes. An entry that was abandoned, or whose
    /// writer was released, isn't.
    case findsWhatWasCommitted
    /// Entries of one key that answer different requests are kept side by side, the newest first. One that answers the same requests as
    /// another takes its place, unless it is behind that one (``CacheEntry/isBehind(_:)``).
    case keepsVariants
    /// Bytes are read by ranges, and an entry of which some bytes are there takes more of them. Missing bytes are an error.
    case keepsParts
    /// Updating an entry replaces its head and keeps its bytes. An entry that isn't there any more isn't stored by it.
    case updatesHeads
    /// A URL is removed with all its variants and owners, an origin with all its URLs, and nothing else is.
    case removesWhatIsNamed
    /// A removal takes effect against every commit: the store counts it, asks whether an entry is current within its own lock, and stores
    /// nothing if it isn't.
    case keepsRemovedEntriesAway
    /// A body that was opened can be read to its end, although its entry is replaced or removed meanwhile.
    case keepsOpenBodiesReadable
    /// The store serves many tasks at once, and never mixes their entries.
    case isReusableConcurrently
    /// The entries that are known without waiting are those that are found.
    case answersTheSameNow
}

/// A store broke a law.
public struct CacheStoreLawViolation: Error, Hashable, CustomStringConvertible {
    /// The law.
    public let law: CacheStoreLaw
    /// The store's type.
    public let store: String
    /// What was expected and what happened.
    public let description: String
}

/// Checks that a store follows the laws.
///
/// ```swift
/// @Test func laws() async throws {
///     try await assertCacheStoreLaws { MyStore() }
/// }
/// ```
///
/// The store has to hold at least 8 MiB. One that never answers makes the check hang: give the test a time limit.
///
/// - Parameters:
///   - laws: The laws to check; all by default.
///   - make: Makes an empty store, anew for each law.
/// - Throws: ``CacheStoreLawViolation`` for the first law that is broken; errors of the store where the law allows none.
public func assertCacheStoreLaws(
    _ laws: Set<CacheStoreLaw> = Set(CacheStoreLaw.allCases), of make: @Sendable () async throws -> any CacheStore
) async throws {
    for law in CacheStoreLaw.allCases where laws.contains(law) {
        let trial = CacheStoreTrial(law: law, store: try await make())
        switch law {
        case .findsWhatWasCommitted: try await trial.findsWhatWasCommitted()
        case .keepsVariants: try await trial.keepsVariants()
        case .keepsParts: try await trial.keepsParts()
        case .updatesHeads: try await trial.updatesHeads()
        case .removesWhatIsNamed: try await trial.removesWhatIsNamed()
        case .keepsRemovedEntriesAway: try await trial.keepsRemovedEntriesAway()
        case .keepsOpenBodiesReadable: try await trial.keepsOpenBodiesReadable()
        case .isReusableConcurrently: try await trial.isReusableConcurrently()
        case .answersTheSameNow: try await trial.answersTheSameNow()
        }
    }
}
