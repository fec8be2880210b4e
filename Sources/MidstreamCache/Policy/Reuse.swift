internal import MidstreamCacheStore

internal import Foundation

/// What may be done with a stored response that matches a request (RFC 9111 §4).
enum Reuse: Equatable {
    /// It answers; fresh for so many seconds more.
    case fresh(Double)
    /// It answers, although it has been stale for so many seconds, since the request lets it.
    case stale(Double)
    /// It answers, and is validated meanwhile (RFC 5861 §3).
    case staleWhileRevalidating(Double)
    /// It has to be validated first.
    case validate(Reason)

    enum Reason: String {
        case stale = "stale"
        case demanded = "the request wants it validated"
        case noCache = "the server wants it validated"
        case tooOld = "older than the request allows"
        case notFreshEnough = "not fresh for as long as the request wants"
        case invalidated = "it has changed on the server"

        /// Whether the request is the reason, and not the response.
        var isRequests: Bool { self == .demanded || self == .tooOld || self == .notFreshEnough }
    }

    var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension CacheRules {
    func reuse(_ head: StoredHead, for demand: CacheDemand, at now: Date) -> Reuse {
        let control = control(of: head)
        if head.isInvalidated { return .validate(.invalidated) }
        let age = age(of: head, at: now)
        let left = lifetime(of: head) - age
        if demand.use == .ignoringFreshness { return left > 0 ? .fresh(left) : .stale(-left) }
        if demand.wantsValidation { return .validate(.demanded) }
        if control.contains(.noCache) { return .validate(.noCache) }
        if left > 0 {
            // A reload of what never changes while it is fresh asks for nothing (RFC 8246 §2).
            if demand.control.maxAge == 0, control.contains(.immutable) { return .fresh(left) }
            if let limit = demand.control.maxAge, age > Double(limit) || limit == 0 {
                let staleness = age - Double(limit)
                guard let allowed = demand.control.maxStale, staleness <= allowed else { return .validate(.tooOld) }
            }
            if let wanted = demand.control.minFresh, left < Double(wanted) { return .validate(.notFreshEnough) }
            return .fresh(left)
        }
        let staleness = -left
        guard !forbidsStale(control), demand.control.minFresh == nil else { return .validate(.stale) }
        if let limit = demand.control.maxAge, age > Double(limit) { return .validate(.stale) }
        if let allowed = demand.control.maxStale, staleness <= allowed { return .stale(staleness) }
        if let allowed = control.staleWhileRevalidate, staleness < Double(allowed) { return .staleWhileRevalidating(staleness) }
        return .validate(.stale)
    }

    /// Whether a response may answer when the server gives none, or an error (RFC 5861 §4).
    func mayAnswerOnError(_ head: StoredHead, for demand: CacheDemand, at now: Date) -> Bool {
        let control = control(of: head)
        guard !head.isInvalidated, !forbidsStale(control), !demand.wantsValidation else { return false }
        let allowed = max(control.staleIfError ?? -1, demand.control.staleIfError ?? -1)
        return allowed >= 0 && age(of: head, at: now) - lifetime(of: head) <= Double(allowed)
    }
}
