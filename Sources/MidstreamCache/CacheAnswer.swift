internal import Foundation
internal import MidstreamCore

extension ResponseCache {
    /// The response that an entry gives to a request; nil when the bytes that it needs aren't there.
    ///
    /// - Parameter judged: Whether the request's own conditions are judged here, as they are of what is fresh (RFC 9111 §4.3.2).
    nonisolated(nonsending) func answer(
        _ request: HTTPRequest, with entry: CacheEntry, _ demand: CacheDemand, on clock: any Clock<Duration>
    ) async -> HTTPResponse? {
        let head = entry.head
        if demand.isConditional, head.status.isSuccess, isUnmodified(head, demand) {
            return made(304, of: head, .empty, request) { StoredFields.removeContentFields(&$0) }
        }
        if request.method == .head { return made(head.status, of: head, .empty, request) { $0.remove("Content-Digest") } }
        if let range = demand.range, range != .other, head.status == .ok, mayBeCut(head, demand) {
            return await part(range, of: entry, request, clock)
        }
        guard entry.isWhole, let body = await body(of: entry, nil, request, clock) else { return nil }
        return made(head.status, of: head, body, request)
    }

    /// A response made of a stored head.
    func made(
        _ status: HTTPStatus, of head: StoredHead, _ body: HTTPBody, _ request: HTTPRequest, at now: Date? = nil,
        change: (inout HTTPHeaders) -> Void = { _ in }
    ) -> HTTPResponse {
        var fields = head.fields
        change(&fields)
        let age = rules.age(of: head, at: now ?? options.now())
        // What is stored has none.
        fields.add(.age, "\(Int(min(age, Double(CacheControl.longest))))")
        var response = HTTPResponse(status: status, headers: fields, body: body, request: request)
        response.isFromCache = true
        return response
    }

    nonisolated(nonsending) func body(
        of entry: CacheEntry, _ range: Range<Int64>?, _ request: HTTPRequest, _ clock: any Clock<Duration>
    ) async -> HTTPBody? {
        await ask(for: request, on: clock) { [store] in try await store.body(of: entry, range: range) }
    }

    nonisolated(nonsending) private func part(
        _ wanted: RangeRequest, of entry: CacheEntry, _ request: HTTPRequest, _ clock: any Clock<Duration>
    ) async -> HTTPResponse? {
        guard let length = entry.length, let range = wanted.resolved(length: length) else { return nil }
        guard !range.isEmpty else {
            return made(416, of: entry.head, .empty, request) { fields in
                StoredFields.removeContentFields(&fields)
                fields["Content-Range"] = "bytes */\(length)"
                fields[.contentLength] = "0"
            }
        }
        guard entry.parts.contains(range), let body = await body(of: entry, range, request, clock) else { return nil }
        return made(.partialContent, of: entry.head, body, request) { StoredFields.describe(range, of: length, in: &$0) }
    }

    /// Whether the request's `If-Range`, if it has one, lets a part answer (RFC 9110 §13.1.5).
    private func mayBeCut(_ head: StoredHead, _ demand: CacheDemand) -> Bool {
        guard let condition = demand.ifRange else { return true }
        if let date = HTTPDate.parse(condition, now: options.now()) { return head.lastModified == date && head.hasStrongDate }
        return EntityTag(condition).map { tag in head.tag.map { $0.isStronglyEqual(to: tag) } ?? false } ?? false
    }

    /// Whether a stored response is what the request says its sender has already (RFC 9111 §4.3.2).
    private func isUnmodified(_ head: StoredHead, _ demand: CacheDemand) -> Bool {
        if let condition = demand.noneMatch { return condition.matches(head.tag) }
        guard let since = demand.modifiedSince.flatMap({ HTTPDate.parse($0, now: options.now()) }) else { return false }
        return (head.lastModified ?? head.date ?? head.responseTime) <= since
    }
}

extension StoredFields {
    /// Describes a part of what is stored. The digest of the content is that of the whole (RFC 9530 §2).
    static func describe(_ range: Range<Int64>, of length: Int64, in fields: inout HTTPHeaders) {
        fields["Content-Range"] = ContentRange.text(range, of: length)
        fields[.contentLength] = "\(range.upperBound - range.lowerBound)"
        fields.remove("Content-Digest")
    }

    /// Removes what describes a body that isn't sent; what a 304 has to say stays (RFC 9110 §15.4.5).
    static func removeContentFields(_ fields: inout HTTPHeaders) {
        fields.removeAll { name in
            name != .contentLocation && name.rawValue.utf8.lazy.map(\.asciiLowercased).starts(with: "content-".utf8)
        }
    }
}

extension StoredHead {
    /// Whether the date of the last change tells versions apart: it lies a minute before the response's own (RFC 9110 §8.8.2.2).
    var hasStrongDate: Bool {
        guard let lastModified, let date else { return false }
        return date.timeIntervalSince(lastModified) >= 60
    }

    /// Whether parts with the same validator are parts of the same bytes (RFC 9111 §3.4).
    var hasStrongValidator: Bool { (tag?.isStrong ?? false || hasStrongDate) && !isEncoded }

    /// What `If-Range` may say of it.
    var strongValidator: String? {
        guard hasStrongValidator else { return nil }
        if let tag, tag.isStrong { return tag.text }
        return fields.values(.lastModified).first
    }

    /// Whether a response is of the same bytes.
    func isSameVersion(as headers: HTTPHeaders) -> Bool {
        if let tag, tag.isStrong {
            return headers.values("ETag").first.flatMap { EntityTag($0) }.map(tag.isStronglyEqual) ?? false
        }
        return hasStrongDate && headers.values(.lastModified) == fields.values(.lastModified)
    }
}
