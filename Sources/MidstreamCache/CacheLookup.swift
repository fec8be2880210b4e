internal import Foundation
internal import MidstreamCore

/// What is stored for a request.
struct CacheLookup: Sendable {
    /// What the request's own response would be stored by.
    var key: CacheKey
    var fingerprint: Fingerprint
    /// The entry that matches; nil: none.
    var match: CacheEntry?
    /// All variants, of the same owner.
    var variants: [CacheEntry] = []

    /// Whether the match may be validated for the request: one that was stored for anybody isn't to be changed by what one gets.
    var isOwn: Bool { match.map { $0.key.partition == key.partition } ?? false }
}

extension ResponseCache {
    /// Looks for what matches a request (RFC 9111 §4).
    func lookUp(_ request: HTTPRequest, on clock: any Clock<Duration>) async -> CacheLookup {
        let url = NormalizedURL.text(request.urlText)
        let fingerprint = await fingerprint(clock)
        let partition: String
        if let name = options.partition {
            partition = name(request) ?? ""
        } else {
            partition = rules.isShared ? "" : fingerprint.owner(of: request) ?? ""
        }
        var lookup = CacheLookup(key: CacheKey(url: url, partition: partition), fingerprint: fingerprint)
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

    private func entries(
        for key: CacheKey, _ request: HTTPRequest, _ clock: any Clock<Duration>
    ) async -> [CacheEntry] {
        await ask(for: request, on: clock) { [store] in try await store.entries(for: key) } ?? []
    }

    private static func match(_ entries: [CacheEntry], _ request: HTTPRequest, _ fingerprint: Fingerprint) -> CacheEntry? {
        entries.first { entry in
            entry.head.selecting.fields.isEmpty
                || entry.head.selecting.match(request.headers, response: entry.head.fields, fingerprint: fingerprint)
        }
    }
}
