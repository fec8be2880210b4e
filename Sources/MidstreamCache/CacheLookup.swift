internal import Foundation
internal import MidstreamCore

/// What is stored for a request.
struct CacheLookup: Sendable {
    /// What the request's own response would be stored by.
    var key: CacheKey
    var fingerprint: Fingerprint
    /// Whose the request will be by those further in.
    var identity = WireIdentity()
    /// The entry that matches; nil: none.
    var match: CacheEntry?
    /// All variants, of the same owner.
    var variants: [CacheEntry] = []

    /// Lets go of bodies that were read with their heads: who comes back to an entry later asks whether it is still there.
    mutating func forgetBodies() {
        match?.body = nil
        for place in variants.indices { variants[place].body = nil }
    }

    /// Whether the match may be validated for the request: one that was stored for anybody isn't to be changed by what one gets.
    var isOwn: Bool { match.map { $0.key.partition == key.partition } ?? false }
}

extension ResponseCache {
    /// Looks for what matches a request (RFC 9111 §4).
    nonisolated(nonsending) func lookUp(
        _ request: HTTPRequest, _ identity: WireIdentity, on clock: any Clock<Duration>
    ) async -> CacheLookup {
        await lookUp(request, begunLookup(of: request, await fingerprint(clock), identity), on: clock)
    }

    /// A lookup of which no more is known than the key.
    func begunLookup(of request: HTTPRequest, _ fingerprint: Fingerprint, _ identity: WireIdentity) -> CacheLookup {
        CacheLookup(key: key(of: request, fingerprint, identity), fingerprint: fingerprint, identity: identity)
    }

    /// Completes a lookup of which no more is known than the key.
    nonisolated(nonsending) func lookUp(
        _ request: HTTPRequest, _ begun: CacheLookup, on clock: any Clock<Duration>
    ) async -> CacheLookup {
        var lookup = begun
        let (url, partition, fingerprint) = (lookup.key.url, lookup.key.partition, lookup.fingerprint)
        lookup.variants = await entries(for: lookup.key, request, clock)
        if lookup.variants.isEmpty, let same = searches.canonical(url) {
            lookup.variants = await entries(for: CacheKey(url: same, partition: partition), request, clock)
        }
        lookup.match = Self.match(lookup.variants, request, fingerprint)
        // What was answered to a request without credentials is for all, unless the user has said who shares what.
        if lookup.match == nil, !partition.isEmpty, options.partition == nil {
            lookup.match = Self.match(await entries(for: CacheKey(url: url), request, clock), request, fingerprint)
        }
        return lookup
    }

    /// What the response to a request would be stored by.
    private func key(of request: HTTPRequest, _ fingerprint: Fingerprint, _ identity: WireIdentity) -> CacheKey {
        let url = NormalizedURL.text(request.urlText)
        if let name = options.partition { return CacheKey(url: url, partition: name(request) ?? "") }
        return CacheKey(url: url, partition: rules.isShared ? "" : fingerprint.owner(of: request, identity.users) ?? "")
    }

    /// What a store in memory says at once.
    enum AtOnce {
        /// The head, the body, and for how many seconds they are fresh.
        case stored(StoredHead, [UInt8], left: Double)
        case nothingStored
        /// There is more to it.
        case unknown
    }

    /// Asks a store in memory for what most requests want of one: without waiting for anything, and with nothing made that only a request
    /// needs which goes further.
    func answerAtOnce(_ request: HTTPRequest, _ lookup: CacheLookup, _ demand: CacheDemand, at now: Date) -> AtOnce {
        guard let memory else { return .unknown }
        let mayAnswer = request.method == .get && demand.range == nil && !demand.isConditional
        var left = 0.0
        let found = memory.whole(for: lookup.key) { entry in
            mayAnswer && Self.matches(entry, request, lookup.fingerprint)
        } isUsable: { entry in
            guard case .fresh(let seconds) = rules.reuse(entry.head, for: demand, at: now) else { return false }
            left = seconds
            return true
        }
        switch found {
        case .stored(let head, let body): return .stored(head, body, left: left)
        case .otherwise: return .unknown
        // It may be stored for others, or under another URL that means the same.
        case .nothing: return lookup.key.partition.isEmpty && searches.isEmpty ? .nothingStored : .unknown
        }
    }

    nonisolated(nonsending) private func entries(
        for key: CacheKey, _ request: HTTPRequest, _ clock: any Clock<Duration>
    ) async -> [CacheEntry] {
        if let memory { return memory.stored(for: key) }
        return await ask(for: request, on: clock) { [store] in try await store.entries(for: key) } ?? []
    }

    private static func match(_ entries: [CacheEntry], _ request: HTTPRequest, _ fingerprint: Fingerprint) -> CacheEntry? {
        entries.first { matches($0, request, fingerprint) }
    }

    private static func matches(_ entry: CacheEntry, _ request: HTTPRequest, _ fingerprint: Fingerprint) -> Bool {
        entry.head.selecting.fields.isEmpty
            || entry.head.selecting.match(request.headers, response: entry.head.fields, fingerprint: fingerprint)
    }
}
