package import Foundation
package import MidstreamCore

/// What a cache goes by when it judges heads.
package struct CacheRules: Sendable {
    package let isShared: Bool
    /// Whether a shared cache stores cookies, and what users were answered (`CacheOptions.sharesPersonalResponses`).
    package let sharesPersonalResponses: Bool
    package let heuristicShare: Double
    package let maximumHeuristicAge: Double
    package let targetedFields: [HTTPHeaders.Name]

    package init(
        isShared: Bool = false, sharesPersonalResponses: Bool = false, heuristicShare: Double = 0.1,
        maximumHeuristicAge: Double = 86_400, targetedFields: [HTTPHeaders.Name] = []
    ) {
        self.isShared = isShared
        self.sharesPersonalResponses = sharesPersonalResponses
        self.heuristicShare = heuristicShare
        self.maximumHeuristicAge = maximumHeuristicAge
        self.targetedFields = targetedFields
    }

    /// What the server wants of this cache: a targeted field's directives, which stand for `Cache-Control` and `Expires` (RFC 9213
    /// §2.2), or else those of `Cache-Control`.
    package func control(_ fields: HTTPHeaders, otherwise control: CacheControl) -> (control: CacheControl, isTargeted: Bool) {
        for name in targetedFields {
            let values = fields.values(name)
            if !values.isEmpty, let targeted = CacheControl(targeted: values) { return (targeted, true) }
        }
        return (control, false)
    }

    /// What the server wants of this cache with a stored response.
    package func control(of head: StoredHead) -> CacheControl {
        targetedFields.isEmpty ? head.control : control(head.fields, otherwise: head.control).control
    }

    /// For how many seconds more a response is fresh to a request without directives; not fresh if it has to be validated each time.
    package func left(of head: StoredHead, at now: Date) -> (seconds: Double, isFresh: Bool) {
        let flags = targetedFields.isEmpty ? head.control.flags : control(of: head).flags
        let seconds = lifetime(of: head) - age(of: head, at: now)
        return (seconds, seconds > 0 && !flags.contains(.noCache))
    }

    /// For how many seconds a response is fresh (RFC 9111 §4.2.1).
    package func lifetime(of head: StoredHead) -> Double {
        guard !targetedFields.isEmpty else { return lifetime(of: head, head.control, isTargeted: false) }
        let (control, isTargeted) = control(head.fields, otherwise: head.control)
        return lifetime(of: head, control, isTargeted: isTargeted)
    }

    private func lifetime(of head: StoredHead, _ control: CacheControl, isTargeted: Bool) -> Double {
        if isShared, let seconds = control.sharedMaxAge { return Double(seconds) }
        if let seconds = control.maxAge { return Double(seconds) }
        if !isTargeted, let expiry = head.expiry { return max(0, expiry.timeIntervalSince(head.date ?? head.responseTime)) }
        guard let modified = head.lastModified, head.status.isHeuristicallyCacheable || control.contains(.isPublic) else {
            return 0
        }
        let unchanged = (head.date ?? head.responseTime).timeIntervalSince(modified)
        return min(max(0, unchanged * heuristicShare), maximumHeuristicAge)
    }

    /// How old a response is (RFC 9111 §4.2.3).
    package func age(of head: StoredHead, at now: Date) -> Double {
        // After the clock went back, the time that has passed is unknown. What is less than a second ahead has been stored by another request
        // while the store was asked.
        guard now > head.responseTime - 1 else { return .infinity }
        let apparent = head.date.map { max(0, head.responseTime.timeIntervalSince($0)) } ?? 0
        let delay = max(0, head.responseTime.timeIntervalSince(head.requestTime))
        return max(apparent, Double(head.receivedAge) + delay) + max(0, now.timeIntervalSince(head.responseTime))
    }

    /// Whether nothing but a validation makes a stale response usable (RFC 9111 §4.2.4).
    package func forbidsStale(_ control: CacheControl) -> Bool {
        control.contains(.mustRevalidate) || control.contains(.noCache)
            || (isShared && (control.contains(.proxyRevalidate) || control.sharedMaxAge != nil))
    }
}

extension HTTPStatus {
    /// Whether a cache may guess how long a response stays fresh (RFC 9110 §15.1).
    package var isHeuristicallyCacheable: Bool {
        switch code {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether what the status means is known here (RFC 9111 §5.2.2.3).
    package var isUnderstood: Bool { code >= 200 && code != 304 && !reason.isEmpty }
}
