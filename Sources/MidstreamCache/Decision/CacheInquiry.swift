internal import Foundation
internal import MidstreamCore

/// A request for which is found out what is stored (RFC 9111 §4). A class, since copies of all that it holds would cost more than one object.
final class CacheInquiry {
    /// What the store has to be asked for.
    enum Need {
        /// The salt, without which no key is known.
        case salt
        case entries(CacheKey)
        /// The bytes of an answer.
        case body(StoredAnswer, CacheDecision)
    }

    let request: HTTPRequest
    let demand: CacheDemand
    /// Whose the request will be, by those further in.
    let identity: WireIdentity
    /// When it began.
    let start: Date
    /// Whether entries without an owner are for all.
    let includesAnybodys: Bool
    private(set) var need: Need? = .salt
    /// What has been found; complete when nothing more is needed.
    var lookup: CacheLookup?

    init(_ request: HTTPRequest, _ demand: CacheDemand, _ identity: WireIdentity, at start: Date, includesAnybodys: Bool) {
        self.request = request
        self.demand = demand
        self.identity = identity
        self.start = start
        self.includesAnybodys = includesAnybodys
    }

    /// Begins with the request's own key.
    func begin(_ own: (key: CacheKey, fingerprint: Fingerprint)) {
        lookup = CacheLookup(key: own.key, fingerprint: own.fingerprint, identity: identity)
        need = .entries(own.key)
    }

    /// Takes the entries that were needed. Next come those of the same URL by `No-Vary-Search`, if there are none, and then those that are
    /// stored for anybody, if none matches.
    func take(_ entries: [CacheEntry], _ searches: SearchRules) {
        guard let own = lookup?.key, case .entries(let key)? = need else { return }
        let isAnybodys = key.partition.isEmpty && !own.partition.isEmpty
        if !isAnybodys { lookup?.variants = entries }
        lookup?.select(from: entries, for: request)
        need = nil
        guard !isAnybodys else { return }
        if entries.isEmpty, key == own, let same = searches.canonical(own.url) {
            need = .entries(CacheKey(url: same, partition: own.partition))
        } else if lookup?.match == nil, !own.partition.isEmpty, includesAnybodys {
            need = .entries(CacheKey(url: own.url))
        }
    }
}
