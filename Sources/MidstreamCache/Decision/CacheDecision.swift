internal import Foundation
internal import MidstreamCacheStore
internal import MidstreamCore

/// What a cache does with a request that it may answer (RFC 9111 §4).
enum CacheDecision: Sendable {
    /// A fresh response answers (§4.2).
    case fresh(StoredAnswer)
    /// A stale response answers, since the request allows it (§5.2.1.2), or the server does and nothing may be sent.
    case stale(StoredAnswer)
    /// A stale response answers, and is validated in the background (RFC 5861 §3).
    case staleWhileRevalidate(StoredAnswer)
    /// The server is asked whether a stored response is still right (§4.3.1).
    case validate(MissReason, Validators)
    /// The server is asked for the bytes that are missing (§3.4, RFC 9110 §14.2).
    indirect case complete(MissReason, MissingPart)
    /// The request is sent as it is: nothing stored is of use.
    case fetch(MissReason)
    /// The request mustn't be sent, and is answered with 504 (§5.2.1.7).
    case refuse(MissReason)

    /// The stored response that answers; nil: none does.
    var answer: StoredAnswer? {
        switch self {
        case .fresh(let answer), .stale(let answer), .staleWhileRevalidate(let answer): answer
        case .validate, .complete, .fetch, .refuse: nil
        }
    }

    /// The request that is sent, with conditions of the cache's own.
    func conditional(_ request: HTTPRequest) -> HTTPRequest {
        var conditional = request
        switch self {
        case .validate(_, let validators):
            if !validators.tags.isEmpty {
                conditional.headers[.ifNoneMatch] = validators.tags.map(\.text).joined(separator: ", ")
            }
            if let modified = validators.modified { conditional.headers[.ifModifiedSince] = modified }
        case .complete(_, let part):
            conditional.headers[.range] = "bytes=\(part.start)-\(part.end.map { "\($0 - 1)" } ?? "")"
            conditional.headers[.ifRange] = part.entry.head.strongValidator
        case .fresh, .stale, .staleWhileRevalidate, .fetch, .refuse: break
        }
        return conditional
    }
}

/// Why a request isn't answered from the store (RFC 9211 §2.2), with the text for the trace.
struct MissReason: Sendable, Equatable {
    let forward: CacheStatus.Forward
    let text: String

    static let nothingStored = MissReason(forward: .uriMiss, text: "nothing stored")
    /// The bytes of an entry couldn't be read.
    static let gone = MissReason(forward: .uriMiss, text: "what was stored is gone")
    static let otherFields = MissReason(forward: .varyMiss, text: "nothing stored for these fields")
    static let onlyPart = MissReason(forward: .partial, text: "only a part is stored")
}

/// What a validation compares (§4.3.1).
struct Validators: Sendable, Equatable {
    /// Those of all variants whose bytes are there, each once.
    var tags: [EntityTag] = []
    /// The `Last-Modified` of the variant that matches.
    var modified: String?
}

/// The end of a stored representation, which is missing.
struct MissingPart: Sendable {
    let entry: CacheEntry
    /// The first byte that is missing.
    let start: Int64
    /// The end of the bytes that are wanted; nil: that of the representation.
    let end: Int64?
}

extension CacheRules {
    /// Decides what is done with a `GET` or `HEAD`, by what is stored for it.
    func decide(_ method: HTTPMethod, _ demand: CacheDemand, _ lookup: CacheLookup, at now: Date) -> CacheDecision {
        guard let entry = lookup.match else {
            let reason: MissReason =
                lookup.isGone
                ? .gone : lookup.variants.isEmpty && !lookup.hasEncodedVariants ? .nothingStored : .otherFields
            return miss(reason, method, demand, lookup)
        }
        let form = form(of: entry, method, demand, at: now)
        switch (reuse(entry.head, for: demand, at: now), form) {
        case (.validate(let obstacle), _):
            let forward: CacheStatus.Forward = obstacle.isRequests ? .request : .stale
            return miss(MissReason(forward: forward, text: obstacle.rawValue), method, demand, lookup)
        case (_, nil): return miss(.onlyPart, method, demand, lookup)
        case (.fresh(let seconds), let form?): return .fresh(StoredAnswer(entry: entry, form: form, left: seconds))
        case (.stale(let seconds), let form?): return .stale(StoredAnswer(entry: entry, form: form, left: -seconds))
        case (.staleWhileRevalidating(let seconds), let form?):
            let answer = StoredAnswer(entry: entry, form: form, left: -seconds)
            return demand.isOnlyIfCached ? .stale(answer) : .staleWhileRevalidate(answer)
        }
    }

    /// Decides how a request is sent that no stored response answers.
    func miss(
        _ reason: MissReason, _ method: HTTPMethod, _ demand: CacheDemand, _ lookup: CacheLookup
    ) -> CacheDecision {
        if demand.isOnlyIfCached { return .refuse(reason) }
        // The caller's own conditions, and its wish for a new response, are passed on as they are.
        guard !lookup.variants.isEmpty, method == .get, !demand.isConditional, demand.use != .reload, demand.ifRange == nil
        else { return .fetch(reason) }
        if let part = missingPart(demand, lookup) { return .complete(reason, part) }
        let validators = validators(demand, lookup)
        return validators == Validators() ? .fetch(reason) : .validate(reason, validators)
    }

    /// The rest of the entry of which the beginning of what is wanted is there.
    private func missingPart(_ demand: CacheDemand, _ lookup: CacheLookup) -> MissingPart? {
        guard lookup.isOwn, let entry = lookup.match, !entry.isWhole, !entry.head.isInvalidated, entry.head.status == .ok,
            entry.head.hasStrongValidator, let length = entry.length
        else { return nil }
        guard let range = demand.range else {
            return entry.parts.end(from: 0).map { MissingPart(entry: entry, start: $0, end: nil) }
        }
        guard range != .other, let wanted = range.resolved(length: length), !wanted.isEmpty,
            let end = entry.parts.end(from: wanted.lowerBound), end < wanted.upperBound
        else { return nil }
        return MissingPart(entry: entry, start: end, end: wanted.upperBound)
    }

    /// The validators of those variants whose bytes, as far as they are wanted, are there.
    private func validators(_ demand: CacheDemand, _ lookup: CacheLookup) -> Validators {
        let usable = lookup.variants.filter { entry in
            guard let range = demand.range, range != .other, entry.head.status == .ok else { return entry.isWhole }
            guard let length = entry.length, let wanted = range.resolved(length: length) else { return false }
            return entry.parts.contains(wanted)
        }
        var seen: Set<EntityTag> = []
        var validators = Validators(tags: usable.compactMap(\.head.tag).filter { seen.insert($0).inserted })
        if lookup.isOwn, let match = lookup.match, usable.contains(where: { $0.id == match.id }) {
            validators.modified = match.head.fields.values(.lastModified).first
        }
        return validators
    }
}

extension CacheDemand {
    /// That of a request without any directive.
    static let plain = CacheDemand(HTTPRequest("http://plain.invalid/"))
}
