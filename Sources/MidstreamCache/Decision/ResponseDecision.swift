internal import Foundation
internal import MidstreamCacheStore
internal import MidstreamCore

/// A request that the store doesn't answer. One object, since several hold it while the server is waited for.
final class CacheMiss: Sendable {
    let request: HTTPRequest
    let demand: CacheDemand
    let lookup: CacheLookup
    let reason: MissReason
    let decision: CacheDecision
    let clock: any Clock<Duration>
    /// Whether what is stored has answered already.
    let isInBackground: Bool

    init(
        _ request: HTTPRequest, _ demand: CacheDemand, _ lookup: CacheLookup, _ reason: MissReason, _ decision: CacheDecision,
        on clock: any Clock<Duration>, isInBackground: Bool = false
    ) {
        self.request = request
        self.demand = demand
        self.lookup = lookup
        self.reason = reason
        self.decision = decision
        self.clock = clock
        self.isInBackground = isInBackground
    }

    /// The same without conditions of the cache's own.
    var unconditional: CacheMiss {
        CacheMiss(request, demand, lookup, reason, .fetch(reason), on: clock, isInBackground: isInBackground)
    }
}

/// What a cache does with the response to a request that it has sent.
enum ResponseDecision: Sendable {
    /// 304 to the cache's condition: the stored response answers, and its head is updated (RFC 9111 §4.3.4).
    case freshen(CacheEntry)
    /// 206 with the missing bytes: one response is made of the stored ones and these (§3.4).
    case combine(MissingPart, wanted: Range<Int64>)
    /// 500, 502, 503 or 504: a stale response answers (RFC 5861 §4).
    case stale(StoredAnswer)
    /// The cache's condition was of no use: the request is sent without (§4.3.3).
    case sendAgain(String)
    /// 304 to the caller's own condition: passed on. The head of the entry, if it is the same version, is updated (§4.3.4).
    case pass(updating: CacheEntry?)
    /// Any other: answers, and is stored where §3 allows it.
    case store
}

extension CacheRules {
    /// Decides what is done with the response to a `GET`, and whether a stale response answers in the place of that to a `HEAD`.
    func decide(on response: HTTPResponse, to miss: CacheMiss, isForeign: Bool, at now: Date) -> ResponseDecision {
        switch (response.status.code, miss.decision) {
        case (304, .validate):
            return entry(validatedBy: response, miss.lookup).map(ResponseDecision.freshen)
                ?? .sendAgain("what is stored isn't what the server has confirmed")
        case (304, _):
            return .pass(updating: isForeign ? nil : entry(confirmedBy: response, miss.lookup))
        case (206, .complete(_, let part)):
            return combination(of: part, with: response, miss.demand, isForeign: isForeign)
                ?? .sendAgain("what came doesn't fit what is stored")
        // A part in spite of its status, and its end alone isn't what was asked for.
        case (200, .complete) where response.headers.contains(.contentRange):
            return .sendAgain("what came doesn't fit what is stored")
        // Without the cache's Range it would have come decoded.
        case (200..<500, .complete)
        where response.headers.contains(.contentEncoding) && miss.demand.range == nil
            && !miss.request.headers.contains(.acceptEncoding):
            return .sendAgain("the answer came encoded, since a part was asked for")
        case (416, .complete): return .sendAgain("what is stored doesn't fit what the server has")
        case (500, _), (502, _), (503, _), (504, _): return staleIfError(miss, at: now).map(ResponseDecision.stale) ?? .store
        default: return .store
        }
    }

    /// The entry that a 304 is about: that with its strong tag, else with its weak tag, else the only one that could be, else the match. A
    /// strong tag is never about an entry with another (RFC 9111 §4.3.4).
    private func entry(validatedBy response: HTTPResponse, _ lookup: CacheLookup) -> CacheEntry? {
        var variants = lookup.variants.filter { $0.head.tag != nil || $0.head.lastModified != nil }
        var match = lookup.isOwn ? lookup.match : nil
        if let tag = response.headers.values("ETag").first.flatMap({ EntityTag($0) }) {
            let tagged = variants.first { $0.head.tag?.isStronglyEqual(to: tag) ?? false }
            if let entry = tagged ?? variants.first(where: { $0.head.tag?.isWeaklyEqual(to: tag) ?? false }) { return entry }
            if let entry = variants.first(where: { $0.head.tag?.isCodedForm(of: tag) ?? false }) { return entry }
            if tag.isStrong {
                variants.removeAll { $0.head.tag != nil }
                if match?.head.tag != nil { match = nil }
            }
        }
        return variants.count == 1 ? variants[0] : match
    }

    /// The match, if the 304 to the caller's own condition names its version.
    private func entry(confirmedBy response: HTTPResponse, _ lookup: CacheLookup) -> CacheEntry? {
        guard lookup.isOwn, let entry = lookup.match, let tag = entry.head.tag,
            let other = response.headers.values("ETag").first.flatMap({ EntityTag($0) }), tag.isStronglyEqual(to: other)
        else { return nil }
        return entry
    }

    private func combination(
        of part: MissingPart, with response: HTTPResponse, _ demand: CacheDemand, isForeign: Bool
    ) -> ResponseDecision? {
        guard let length = part.entry.length, !isForeign,
            case .bytes(let range, length)? = response.headers[.contentRange].flatMap({ ContentRange($0) }),
            range.lowerBound == part.start,
            part.entry.head.isSameVersion(as: response.headers),
            let wanted = demand.range == nil ? 0..<length : demand.range?.resolved(length: length),
            range.upperBound == wanted.upperBound
        else { return nil }
        return .combine(part, wanted: wanted)
    }
}
