internal import Foundation
internal import MidstreamCacheStore
internal import MidstreamCore

/// What is stored for a request.
struct CacheLookup: Sendable {
    /// The key of the request's own response.
    var key: CacheKey
    var fingerprint: Fingerprint
    /// Whose the request will be, by those further in.
    var identity = WireIdentity()
    /// The entry that matches; nil: none.
    var match: CacheEntry?
    /// All variants, of the same owner.
    var variants: [CacheEntry] = []
    /// Whether there are encoded ones, which aren't among them where other requests get them.
    var hasEncodedVariants = false
    /// Whether there was a match whose bytes couldn't be read.
    var isGone = false

    /// Whether the match may be changed by the response to this request. An entry without an owner, which everybody gets, is not.
    var isOwn: Bool { match.map { $0.key.partition == key.partition } ?? false }

    /// Chooses of the entries that match the one that was asked for last (RFC 9111 §4), in whichever order the store lists them. Those from the
    /// future, of a clock that was ahead, come behind all others, in the store's order.
    mutating func select(from entries: [CacheEntry], for request: HTTPRequest, at now: Date) {
        match = nil
        var latest = Date.distantPast
        for entry in entries {
            let time = entry.head.requestTime <= now ? entry.head.requestTime : .distantPast
            guard match == nil || time > latest, matches(entry, request) else { continue }
            (match, latest) = (entry, time)
        }
    }

    /// Whether an entry is for such requests (§4.1).
    func matches(_ entry: CacheEntry, _ request: HTTPRequest) -> Bool {
        entry.head.selecting.fields.isEmpty
            || entry.head.selecting.match(request.headers, response: entry.head.fields, fingerprint: fingerprint)
    }

    /// Takes out the match, whose bytes can't be read.
    mutating func forgetMatch() {
        variants.removeAll { $0.id == match?.id }
        match = nil
        isGone = true
    }

    /// The same without bodies that were read with their heads, to be kept while the server is waited for.
    var withoutBodies: CacheLookup {
        guard match != nil || !variants.isEmpty else { return self }
        var lookup = self
        lookup.match = match?.withoutBody
        for place in variants.indices { lookup.variants[place] = variants[place].withoutBody }
        return lookup
    }
}
