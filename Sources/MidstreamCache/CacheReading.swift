internal import Foundation
internal import MidstreamCore

extension ResponseCache {
    /// Looks for what is stored for a request (RFC 9111 §4).
    nonisolated(nonsending) func lookUp(
        _ request: HTTPRequest, _ identity: WireIdentity, on clock: any Clock<Duration>
    ) async -> CacheLookup {
        let fingerprint = await fingerprint(clock)
        var lookup = CacheLookup(
            key: key(of: request, fingerprint, identity), fingerprint: fingerprint, identity: identity)
        let (url, partition) = (lookup.key.url, lookup.key.partition)
        lookup.variants = await entries(for: lookup.key, request, clock)
        if lookup.variants.isEmpty, let same = searches.canonical(url) {
            lookup.variants = await entries(for: CacheKey(url: same, partition: partition), request, clock)
        }
        lookup.select(from: lookup.variants, for: request)
        // The response to a request without credentials is for all, unless the user has named who shares what.
        if lookup.match == nil, !partition.isEmpty, options.partition == nil {
            lookup.select(from: await entries(for: CacheKey(url: url), request, clock), for: request)
        }
        return lookup
    }

    /// The key of the response to a request.
    private func key(of request: HTTPRequest, _ fingerprint: Fingerprint, _ identity: WireIdentity) -> CacheKey {
        let url = NormalizedURL.text(request.urlText)
        if let name = options.partition { return CacheKey(url: url, partition: name(request) ?? "") }
        return CacheKey(url: url, partition: rules.isShared ? "" : fingerprint.owner(of: request, identity.users) ?? "")
    }

    nonisolated(nonsending) private func entries(
        for key: CacheKey, _ request: HTTPRequest, _ clock: any Clock<Duration>
    ) async -> [CacheEntry] {
        if let entries = store.entriesNow(for: key) { return entries }
        return await ask(for: request, on: clock) { [store] in try await store.entries(for: key) } ?? []
    }

    /// The response that a stored one gives; nil when its bytes can't be read.
    nonisolated(nonsending) func response(
        _ answer: StoredAnswer, _ request: HTTPRequest, on clock: any Clock<Duration>, at now: Date
    ) async -> HTTPResponse? {
        let head = answer.entry.head
        switch answer.form {
        case .notModified: return made(304, of: head, .empty, request, at: now) { StoredFields.removeContentFields(&$0) }
        case .head: return made(head.status, of: head, .empty, request, at: now) { $0.remove("Content-Digest") }
        case .unsatisfiable(let length):
            return made(416, of: head, .empty, request, at: now) { fields in
                StoredFields.removeContentFields(&fields)
                fields["Content-Range"] = "bytes */\(length)"
                fields[.contentLength] = "0"
            }
        case .whole:
            guard let body = await body(of: answer.entry, nil, request, clock) else { return nil }
            return made(head.status, of: head, body, request, at: now)
        case .part(let range, let length):
            guard let body = await body(of: answer.entry, range, request, clock) else { return nil }
            return made(.partialContent, of: head, body, request, at: now) { StoredFields.describe(range, of: length, in: &$0) }
        }
    }

    /// A response made of a stored head.
    func made(
        _ status: HTTPStatus, of head: StoredHead, _ body: HTTPBody, _ request: HTTPRequest, at now: Date,
        change: (inout HTTPHeaders) -> Void = { _ in }
    ) -> HTTPResponse {
        var fields = head.fields
        change(&fields)
        // Stored fields have none.
        fields.add(.age, "\(Int(min(rules.age(of: head, at: now), Double(CacheControl.longest))))")
        var response = HTTPResponse(status: status, headers: fields, body: body, request: request)
        response.isFromCache = true
        return response
    }

    nonisolated(nonsending) func body(
        of entry: CacheEntry, _ range: Range<Int64>?, _ request: HTTPRequest, _ clock: any Clock<Duration>
    ) async -> HTTPBody? {
        await ask(for: request, on: clock) { [store] in try await store.body(of: entry, range: range) }
    }

    func ttl(of head: StoredHead) -> Int { Self.ttl(rules.left(of: head, at: options.now()).seconds) }

    /// Seconds as whole numbers.
    static func ttl(_ seconds: Double) -> Int {
        Int(max(min(seconds, Double(CacheControl.longest)), -Double(CacheControl.longest)).rounded(.down))
    }
}

extension StoredFields {
    /// Describes a part of what is stored. The digest of the content is that of the whole (RFC 9530 §2).
    static func describe(_ range: Range<Int64>, of length: Int64, in fields: inout HTTPHeaders) {
        fields["Content-Range"] = ContentRange.text(range, of: length)
        fields[.contentLength] = "\(range.upperBound - range.lowerBound)"
        fields.remove("Content-Digest")
    }

    /// Removes the description of a body that isn't sent; the fields that a 304 needs stay (RFC 9110 §15.4.5).
    static func removeContentFields(_ fields: inout HTTPHeaders) {
        fields.removeAll { name in
            name != .contentLocation && name.rawValue.utf8.lazy.map(\.asciiLowercased).starts(with: "content-".utf8)
        }
    }
}
