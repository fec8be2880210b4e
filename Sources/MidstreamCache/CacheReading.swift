internal import Foundation
internal import MidstreamCacheStore
internal import MidstreamCore

extension ResponseCache {
    /// Begins to look for what is stored for a request.
    func inquiry(
        _ request: HTTPRequest, _ demand: CacheDemand, _ identity: WireIdentity, _ fingerprint: Fingerprint,
        _ known: CacheRemovals.Knowledge
    ) -> CacheInquiry {
        let partition =
            if let name = options.partition {
                name(request) ?? ""
            } else {
                rules.isShared ? "" : fingerprint.owner(of: request, identity.users) ?? ""
            }
        let key = CacheKey(url: NormalizedURL.text(request.urlText), partition: partition)
        return CacheInquiry(
            request, demand, CacheLookup(key: key, fingerprint: fingerprint, identity: identity), at: options.now(),
            includesAnybodys: options.partition == nil, known)
    }

    /// Looks for what is stored for a request.
    nonisolated(nonsending) func lookUp(
        _ request: HTTPRequest, _ identity: WireIdentity, on clock: any Clock<Duration>
    ) async -> CacheLookup {
        var inquiry = inquiry(request, .plain, identity, await fingerprint(clock), known)
        while let key = inquiry.need { inquiry.take(await entries(for: key, request, clock), searches) }
        return inquiry.lookup
    }

    nonisolated(nonsending) func entries(
        for key: CacheKey, _ request: HTTPRequest, _ clock: any Clock<Duration>
    ) async -> [CacheEntry] {
        if let entries = store.entriesNow(for: key) { return entries }
        return await ask(for: request, on: clock) { [store] in try await store.entries(for: key) } ?? []
    }

    /// The response that a stored one gives; nil when its bytes can't be read.
    nonisolated(nonsending) func response(
        _ answer: StoredAnswer, _ request: HTTPRequest, on clock: any Clock<Duration>, at now: Date
    ) async -> HTTPResponse? {
        await body(of: answer, request, clock).map { made(by: answer, $0, request, at: now) }
    }

    nonisolated(nonsending) func body(
        of answer: StoredAnswer, _ request: HTTPRequest, _ clock: any Clock<Duration>
    ) async -> HTTPBody? {
        if let body = bodyNow(of: answer) { return body }
        return await body(of: answer.entry, answer.form.range, request, clock)
    }

    /// The body of an answer, if the store has it at hand or none is needed.
    func bodyNow(of answer: StoredAnswer) -> HTTPBody? {
        answer.form.hasBody ? store.bodyNow(of: answer.entry, range: answer.form.range) : .empty
    }

    /// The response that a stored one gives.
    func made(by answer: StoredAnswer, _ body: HTTPBody, _ request: HTTPRequest, at now: Date) -> HTTPResponse {
        let head = answer.entry.head
        switch answer.form {
        case .notModified: return made(304, of: head, body, request, at: now) { StoredFields.removeContentFields(&$0) }
        case .head: return made(head.status, of: head, body, request, at: now) { $0.remove("Content-Digest") }
        case .unsatisfiable(let length):
            return made(416, of: head, body, request, at: now) { fields in
                StoredFields.removeContentFields(&fields)
                fields["Content-Range"] = "bytes */\(length)"
                fields[.contentLength] = "0"
            }
        case .whole: return made(head.status, of: head, body, request, at: now)
        case .part(let range, let length):
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
        await ask(for: request, on: clock) { [store] () -> HTTPBody? in
            do { return try await store.body(of: entry, range: range) } catch {
                // What another request has replaced meanwhile is no failure of the store.
                guard let entries = store.entriesNow(for: entry.key), !entries.contains(where: { $0.id == entry.id }) else {
                    throw error
                }
                return nil
            }
        } ?? nil
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
        fields.removeAll { $0 != .contentLocation && $0.rawValue.hasASCIIPrefix("content-") }
    }
}
