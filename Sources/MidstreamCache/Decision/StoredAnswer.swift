internal import Foundation
internal import MidstreamCacheStore
internal import MidstreamCore

/// How a stored response answers a request.
struct StoredAnswer: Sendable {
    enum Form: Sendable, Equatable {
        /// 304 to the request's own condition (RFC 9111 §4.3.2).
        case notModified
        /// The head alone, to a `HEAD`.
        case head
        case whole
        /// 206 (RFC 9110 §15.3.7).
        case part(Range<Int64>, of: Int64)
        /// 416: the representation, so long, has none of the bytes (RFC 9110 §15.5.17).
        case unsatisfiable(length: Int64)

        var hasBody: Bool { self == .whole || range != nil }

        /// The bytes that are sent; nil: all, or none.
        var range: Range<Int64>? { if case .part(let range, _) = self { range } else { nil } }
    }

    let entry: CacheEntry
    let form: Form
    /// For how many seconds more it is fresh; negative: how long it has been stale.
    let left: Double
}

extension CacheRules {
    /// The form in which an entry answers a request; nil when the bytes that are wanted aren't there.
    func form(of entry: CacheEntry, _ method: HTTPMethod, _ demand: CacheDemand, at now: Date) -> StoredAnswer.Form? {
        let head = entry.head
        if demand.isConditional, head.status.isSuccess, isUnmodified(head, demand, at: now) { return .notModified }
        if method == .head { return .head }
        guard let range = demand.range, range != .other, head.status == .ok, allowsPart(of: head, demand, at: now) else {
            return entry.isWhole ? .whole : nil
        }
        guard let length = entry.length, let wanted = range.resolved(length: length) else { return nil }
        if wanted.isEmpty { return .unsatisfiable(length: length) }
        return entry.parts.contains(wanted) ? .part(wanted, of: length) : nil
    }

    /// Whether the request's `If-Range`, if it has one, allows a part as the answer (RFC 9110 §13.1.5).
    private func allowsPart(of head: StoredHead, _ demand: CacheDemand, at now: Date) -> Bool {
        guard let condition = demand.ifRange else { return true }
        if let date = HTTPDate.parse(condition, now: now) { return head.lastModified == date && head.hasStrongDate }
        return EntityTag(condition).map { tag in head.tag.map { $0.isStronglyEqual(to: tag) } ?? false } ?? false
    }

    /// Whether the caller's copy is the stored response (RFC 9111 §4.3.2).
    private func isUnmodified(_ head: StoredHead, _ demand: CacheDemand, at now: Date) -> Bool {
        if let condition = demand.noneMatch { return condition.matches(head.tag) }
        guard let since = demand.modifiedSince.flatMap({ HTTPDate.parse($0, now: now) }) else { return false }
        return (head.lastModified ?? head.date ?? head.responseTime) <= since
    }

    /// A stale response in the place of an error (RFC 5861 §4); nil: it mayn't answer, or its bytes aren't there.
    func staleIfError(_ miss: CacheMiss, at now: Date) -> StoredAnswer? {
        guard let entry = miss.lookup.match, mayAnswerOnError(entry.head, for: miss.demand, at: now),
            let form = form(of: entry, miss.request.method, miss.demand, at: now)
        else { return nil }
        return StoredAnswer(entry: entry, form: form, left: left(of: entry.head, at: now).seconds)
    }
}

extension StoredHead {
    /// Whether `Last-Modified` tells versions apart: it lies at least a minute before `Date` (RFC 9110 §8.8.2.2).
    var hasStrongDate: Bool {
        guard let lastModified, let date else { return false }
        return date.timeIntervalSince(lastModified) >= 60
    }

    /// Whether parts with the same validator are parts of the same bytes (RFC 9111 §3.4). Beside a tag no date counts (RFC 9110 §13.1.5).
    var hasStrongValidator: Bool { (tag.map(\.isStrong) ?? hasStrongDate) && !isEncoded }

    /// The validator for `If-Range`.
    var strongValidator: String? {
        guard hasStrongValidator else { return nil }
        return tag?.text ?? fields.values(.lastModified).first
    }

    /// Whether a response has the same bytes.
    func isSameVersion(as headers: HTTPHeaders) -> Bool {
        if let tag {
            return headers.values("ETag").first.flatMap { EntityTag($0) }.map(tag.isStronglyEqual) ?? false
        }
        return hasStrongDate && headers.values(.lastModified) == fields.values(.lastModified)
    }
}

extension CacheEntry {
    /// Whether a later head may show of which version its bytes are. A part with a weak validator may be of an earlier one that had the same.
    var mayProveVersion: Bool { isWhole || head.hasStrongValidator }

    /// Whether it and these bytes of an answer are a whole whose digest the server has named. Who has asked for a part can't check that.
    func isWholeUnchecked(with range: Range<Int64>, of answer: HTTPResponse) -> Bool {
        adding(range).isWhole && (head.fields.namesDigest || answer.headers.namesDigest)
    }
}

extension HTTPHeaders {
    /// Whether they name the digest of the whole.
    fileprivate var namesDigest: Bool { contains("Repr-Digest") || contains("Unencoded-Digest") }
}
