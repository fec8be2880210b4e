internal import Foundation
internal import MidstreamCacheStore
internal import MidstreamCore

/// The search for what is stored for a request (RFC 9111 §4).
struct CacheInquiry: Sendable {
    let request: HTTPRequest
    let demand: CacheDemand
    /// When it began.
    let start: Date
    /// Whether entries without an owner are for all.
    private let includesAnybodys: Bool
    /// What the store couldn't remove; nil: nothing.
    private let failed: FailedRemovals?
    /// Whether other URLs may be the same to a server.
    private let hasSearchRules: Bool
    /// The key whose entries are needed next; nil: the lookup is complete.
    private(set) var need: CacheKey?
    /// When what is needed has to have been asked for at least; nil: whenever it was.
    private var oldest: Date?
    /// What has been found.
    var lookup: CacheLookup

    /// Begins with the request's own key, that of the lookup.
    init(
        _ request: HTTPRequest, _ demand: CacheDemand, _ lookup: CacheLookup, at start: Date, includesAnybodys: Bool,
        _ known: CacheRemovals.Knowledge
    ) {
        self.request = request
        self.demand = demand
        self.start = start
        self.includesAnybodys = includesAnybodys
        failed = known.failed
        hasSearchRules = known.hasSearchRules
        self.lookup = lookup
        need = lookup.key
    }

    /// Takes the entries that were needed. Next come those of the same URL by `No-Vary-Search`, which may be newer than what was stored
    /// without, and then those that are stored for anybody, if none matches.
    mutating func take(_ stored: [CacheEntry], _ searches: SearchRules) {
        guard let key = need else { return }
        let isAnybodys = key.partition.isEmpty && !lookup.key.partition.isEmpty
        let stored = failed?.remaining(stored) ?? stored
        var entries = oldest.map { oldest in stored.filter { $0.head.requestTime >= oldest } } ?? stored
        // What other requests get encoded isn't validated for this one, which would get it as it is.
        if entries.contains(where: { $0.head.isEncoded }) {
            lookup.hasEncodedVariants = true
            entries.removeAll { $0.head.isEncoded && !lookup.matches($0, request) }
        }
        (need, oldest) = (nil, nil)
        guard !isAnybodys else { return lookup.select(from: entries, for: request, at: start) }
        lookup.variants = lookup.variants.isEmpty ? entries : lookup.variants + entries
        lookup.select(from: lookup.variants, for: request, at: start)
        if hasSearchRules, key == lookup.key, let same = searches.canonical(key.url) {
            (need, oldest) = (CacheKey(url: same.url, partition: key.partition), same.oldest)
        } else if lookup.match == nil, !lookup.key.partition.isEmpty, includesAnybodys {
            need = CacheKey(url: lookup.key.url)
        }
    }
}
