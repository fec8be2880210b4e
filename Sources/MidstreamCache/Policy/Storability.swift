internal import MidstreamCacheStore
internal import MidstreamCore

extension CacheRules {
    /// Why a response mayn't be stored (RFC 9111 §3); nil: it may be.
    ///
    /// - Parameter isForeign: Whether its request was sent with credentials that nobody knew of beforehand.
    func obstacle(
        to response: HTTPResponse, _ fields: ResponseFields, for request: HTTPRequest, isForeign: Bool = false
    ) -> String? {
        if request.method == .head { return "it answers HEAD, and has no body" }
        if isForeign, !isShared { return "it was sent with credentials that are added further in" }
        let hasCredentials = isForeign || isShared && (isPersonal(request) || isPersonal(response.request))
        guard !targetedFields.isEmpty else {
            return obstacle(to: response, fields, fields.control, isTargeted: false, for: request, hasCredentials)
        }
        let (control, isTargeted) = control(response.headers, otherwise: fields.control)
        return obstacle(to: response, fields, control, isTargeted: isTargeted, for: request, hasCredentials)
    }

    private func obstacle(
        to response: HTTPResponse, _ fields: ResponseFields, _ control: CacheControl, isTargeted: Bool, for request: HTTPRequest,
        _ hasCredentials: Bool
    ) -> String? {
        let status = response.status
        switch status.code {
        // Who is refused for want of credentials, and has them next, mustn't get the refusal again, which would be anybody's. The last four
        // by RFC 6585, whatever the fields say.
        case ..<200, 304, 401, 407, 412, 416, 428, 429, 431, 511: return "\(status.code) answers this request alone"
        default: break
        }
        if let obstacle = obstacle(toKeeping: status, control, hasCredentials) { return obstacle }
        if isShared, !sharesPersonalResponses, fields.setsCookie { return "it sets a cookie" }
        if !fields.vary.isEmpty {
            let rule = VaryRule(fields.vary)
            if rule.isAny { return "it varies by what nobody can tell" }
            if let name = rule.names.first(where: { response.request.differs(from: request, inSelecting: $0) }) {
                return "it varies by \(name), which was changed further in"
            }
        }
        if response.request.isElsewhere(than: request) {
            return "it is the answer of another URL, which was put in its place further in"
        }
        if status == .partialContent, let obstacle = Self.obstacle(toPart: response.headers) { return obstacle }
        // Some servers answer so a request for a part, which downloads take.
        if status == .ok, fields.hasContentRange { return "it is a part, and its status says that it is the whole" }
        // To a request for the whole it would have come decoded.
        if fields.hasContentEncoding, request.headers.contains(.range), !request.headers.contains(.acceptEncoding) {
            return "it is encoded, and the request wanted a part"
        }
        let isExplicit =
            control.maxAge != nil || (isShared && control.sharedMaxAge != nil) || (!isTargeted && fields.expiry != nil)
        if request.method == .post { return isExplicit ? nil : "its freshness isn't told" }
        if isExplicit { return nil }
        guard fields.hasValidator else { return "it says nothing about its freshness, and can't be validated" }
        // Many servers give a tag to whatever they send, errors included.
        let isAllowed =
            status.isHeuristicallyCacheable || control.contains(.isPublic) || !isShared && control.contains(.isPrivate)
        return isAllowed ? nil : "it says nothing about its freshness, and is a \(status.code)"
    }

    /// Why nothing of a response may be kept, whatever else it says.
    private func obstacle(toKeeping status: HTTPStatus, _ control: CacheControl, _ hasCredentials: Bool) -> String? {
        if control.contains(.mustUnderstand) {
            guard status.isUnderstood else { return "its status isn't understood" }
        } else if control.contains(.noStore) {
            return "no-store"
        }
        if isShared, control.contains(.isPrivate) { return "it is private" }
        if isShared, hasCredentials, !control.contains(.isPublic), !control.contains(.mustRevalidate),
            control.sharedMaxAge == nil
        {
            return "it answers one user"
        }
        return nil
    }

    /// Whether a stored response may be changed by another, and others may have what becomes of it: what is stored comes under the same
    /// rules when it is changed as when it is new.
    func mayKeep(_ head: StoredHead, changedBy response: HTTPResponse, to request: HTTPRequest) -> Bool {
        let hasCredentials = isShared && (isPersonal(request) || isPersonal(response.request))
        return obstacle(toKeeping: head.status, control(of: head), hasCredentials) == nil
    }

    /// Whether a request carries something secret (RFC 9111 §3.5 is about `Authorization` alone).
    private func isPersonal(_ request: HTTPRequest) -> Bool {
        sharesPersonalResponses ? request.headers.contains(.authorization) : request.headers.hasSensitive
    }

    private static func obstacle(toPart headers: HTTPHeaders) -> String? {
        guard case .bytes(let range, let total)? = headers[.contentRange].flatMap({ ContentRange($0) }) else {
            return "it isn't a single part"
        }
        if total == nil { return "it doesn't say how long the whole is" }
        guard !headers.contains(.contentEncoding) else { return "it is a part of something encoded" }
        if let length = headers.values(.contentLength).first.flatMap({ ByteNumber.read($0.utf8) }),
            length != range.upperBound - range.lowerBound
        {
            return "its Content-Range contradicts its length"
        }
        return nil
    }
}

/// What was sent, beside what the cache was asked for: an interceptor behind it may have changed that.
extension HTTPRequest {
    /// Whether a field has other values by which a response may be selected. Conditions are the cache's own, and which codings are taken a
    /// transport may say.
    fileprivate func differs(from asked: HTTPRequest, inSelecting name: String) -> Bool {
        guard name != "accept-encoding", name != "range", !name.hasPrefix("if-") else { return false }
        let name = HTTPHeaders.Name(name)
        return headers.values(name) != asked.headers.values(name)
    }

    /// Whether the URL is another one; items that were added to its query are looked at elsewhere.
    fileprivate func isElsewhere(than asked: HTTPRequest) -> Bool {
        guard urlText != asked.urlText else { return false }
        let (sent, wanted) = (URLText(NormalizedURL.text(urlText)), URLText(NormalizedURL.text(asked.urlText)))
        return sent.scheme != wanted.scheme || sent.authority != wanted.authority || sent.path != wanted.path
    }
}
