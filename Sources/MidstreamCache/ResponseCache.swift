internal import Foundation
internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

/// What all requests of one cache share.
final class ResponseCache: Sendable {
    let store: any CacheStore
    let options: CacheOptions
    let rules: CacheRules
    let collapsed: CollapsedRequests
    /// Those of all caches of the store.
    let searches: SearchRules
    /// Which entries are being validated behind the answers' back.
    let validating = Locked<Set<UInt64>>([])
    private let counters = Locked(CacheStatistics())
    private let knowledge: Locked<CacheRemovals.Knowledge>

    /// How long a store may take to answer.
    static let storeLimit = Duration.seconds(1)

    init(_ mode: CacheMode, store: any CacheStore, options: CacheOptions) {
        self.store = store
        self.options = options
        searches = store.removals.searches
        knowledge = store.removals.knowledge
        collapsed = CollapsedRequests(store.removals, now: options.now)
        rules = CacheRules(
            isShared: mode == .shared, sharesPersonalResponses: options.sharesPersonalResponses,
            heuristicShare: options.heuristicShare,
            maximumHeuristicAge: options.maximumHeuristicAge / .seconds(1), targetedFields: options.targetedFields)
    }

    var statistics: CacheStatistics { counters.withLock { $0 } }

    func count(_ change: (inout CacheStatistics) -> Void) { counters.withLock(change) }

    /// Asks the store; nil when it fails or takes too long, which is a note.
    nonisolated(nonsending) func ask<Value: Sendable>(
        for request: HTTPRequest?, on clock: any Clock<Duration>, _ question: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        do {
            if store.boundsItsTime { return try await question() }
            return try await TimeLimit(Self.storeLimit, on: clock).run(error: { _ in .timedOut() }, question)
        } catch {
            storeFailed(error, request)
            return nil
        }
    }

    /// A failure of the store is a note.
    func storeFailed(_ error: any Error, _ request: HTTPRequest?) {
        guard !(error is CancellationError) else { return }
        count { $0.storeFailures += 1 }
        request?.note("the cache's store failed: \(type(of: error))")
    }

    /// What is known of the store.
    var known: CacheRemovals.Knowledge { knowledge.withLock { $0 } }

    /// Hashes secret values.
    func fingerprint(_ clock: any Clock<Duration>) async -> Fingerprint {
        if let fingerprint = known.fingerprint { return fingerprint }
        let store = store
        let salt = await ask(for: nil, on: clock) { try await store.salt() }
        // Without the store's, nothing can be found there anyway.
        let fingerprint = Fingerprint(salt: salt ?? Fingerprint.randomSalt())
        guard salt != nil else { return fingerprint }
        return knowledge.withLock { knowledge in
            knowledge.fingerprint = knowledge.fingerprint ?? fingerprint
            return knowledge.fingerprint ?? fingerprint
        }
    }

    /// Learns which URLs are the same to the server.
    func learn(_ rule: NoVarySearch, for url: String) {
        searches.learn(rule, for: url)
        knowledge.withLock { $0.hasSearchRules = true }
    }

    /// Forgets the entries of a URL, and lets nothing be stored that is on its way.
    ///
    /// - Returns: How many removals that is (``CacheRemovals/told``).
    @discardableResult
    func forget(_ url: String, on clock: any Clock<Duration>) async -> UInt64 {
        store.removals.remove(NoVarySearch.anything(like: url))
        let urls = [url, searches.remove(url, at: options.now())].compactMap { $0 }
        for url in urls {
            let done: Void? = await ask(for: nil, on: clock) { [store] in try await store.remove(CacheKey(url: url)) }
            if done == nil { noteFailure { $0.note(url, at: $1) } }
        }
        return UInt64(urls.count) + 1
    }

    /// Forgets all entries of an origin; nil: all.
    func forgetAll(origin: String?, on clock: any Clock<Duration>) async {
        let done: Void? = await ask(for: nil, on: clock) { [store] in try await store.removeAll(origin: origin) }
        if done == nil { noteFailure { $0.note(origin: origin, at: $1) } }
    }

    /// Notes what the store couldn't remove, so that what it still has of it isn't given out.
    private func noteFailure(_ note: (inout FailedRemovals, Date) -> Void) {
        let now = options.now()
        knowledge.withLock { knowledge in
            // Taken out, so that it isn't copied.
            var failed = knowledge.failed.take() ?? FailedRemovals()
            note(&failed, now)
            knowledge.failed = failed
        }
    }
}
