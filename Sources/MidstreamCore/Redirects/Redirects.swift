package import Interception

/// Follows redirects (RFC 9110 §15.4): each hop is an exchange of its own within the attempt.
package struct Redirects: HTTPInterceptor {
    let policy: RedirectPolicy

    package init(policy: RedirectPolicy) { self.policy = policy }

    @inline(__always)
    package func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard !request.hasLateLimits else {
            return try await next.within(limitsOf: request) { try await self.intercept($0, next: $1) }
        }
        let policy = request.redirects.over(policy)
        var request = request
        var hops = 0
        while true {
            let response: HTTPResponse
            do {
                response = try await next(request)
            } catch {
                throw hops > 0 ? Self.afterAnAnswer(error, to: request) : error
            }
            guard response.status.isRedirectToFollow,
                let target = try await target(of: response, from: request, after: hops, by: policy, at: next.position)
            else { return response }
            hops += 1
            request = target
        }
    }

    /// The error of an attempt of which an exchange was answered before: the server may have acted on a POST before its 303.
    ///
    /// Not inlined, to keep the async frame small.
    @inline(never)
    private static func afterAnAnswer(_ error: any Error, to request: HTTPRequest) -> any Error {
        guard var later = (error as? HTTPError)?.befalling(request), later.phase == .notSent else { return error }
        later.phase = .answered
        return later
    }

    /// The request that follows a redirect, whose body is closed; nil when the redirect is to be taken as the response.
    private func target(
        of response: HTTPResponse, from request: HTTPRequest, after hops: Int, by policy: RedirectPolicy,
        at position: ChainPosition
    ) async throws -> HTTPRequest? {
        let decided: HTTPRequest?
        do {
            decided = try await policy.target(of: response, from: request, at: position)
        } catch {
            // The body of the error's own response is read for whoever catches it.
            let told = (error as? HTTPError)?.response.map { BodyIdentity($0.body) }
            if told != BodyIdentity(response.body) { response.body.close() }
            throw Self.afterAnAnswer(error, to: request)
        }
        guard var target = decided else { return nil }
        // The limit ends circles, too: a site may send a client back to the same URL, with one more cookie.
        guard hops < policy.limit else {
            throw HTTPError(
                .tooManyRedirects, "More than \(policy.limit) redirects, the last one to \(target.redactedURL).",
                request: request, response: response)
        }
        // A redirect's body is of no use to anyone, and unread it would hold its connection.
        response.body.close()
        position.record({ .redirect(status: response.status, target: target.redactedURL) }, about: request)
        target.follow(request)
        target.moveCredentialsToHeader()
        return target
    }

    package func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        .known("\(request.redirects.over(policy))")
    }
}

extension RedirectPolicy {
    /// The request that follows a redirect; nil when the redirect is to be taken as the response.
    fileprivate func target(
        of response: HTTPResponse, from request: HTTPRequest, at position: ChainPosition
    ) async throws -> HTTPRequest? {
        if case .refuse = mode { return nil }
        guard let location = response.headers.values(.location).first, !location.isEmpty,
            let url = URLText.resolve(
                location: request.isUpgrade ? location.withWebScheme : location, from: request.urlText)
        else { return nil }
        let target = redirected(request, to: url, status: response.status)
        if case .custom(let decide) = mode {
            return try await position.untilDeadline { position in
                try await ChainPosition.local.withValue(position) {
                    try await decide(target, response)?.takingPlace(of: request)
                }
            }
        }
        guard request.urlText.hasSecureScheme, !url.hasSecureScheme, !allowsDowngrade else { return target }
        position.note({ "didn't follow \(response.status.code) from https to http" }, about: request)
        return nil
    }

    private func redirected(_ request: HTTPRequest, to url: String, status: HTTPStatus) -> HTTPRequest {
        var target = request
        target.urlText = url
        if url != request.urlText, request.route != nil { target.route = nil }
        let staysInOrigin = HTTPOrigin(url) == HTTPOrigin(request.urlText)
        if !staysInOrigin {
            target.removeCredentials()
            if target.address != nil { target.address = nil }
        }
        guard !(keepsHeaders && staysInOrigin) else { return target }
        let becomesGet =
            (status == .seeOther && request.method != .head && request.method != .get)
            || ((status == .movedPermanently || status == .found) && request.method == .post)
        if becomesGet {
            target.method = .get
            target.body = .empty
            target.headers.removeContentFields()
        }
        return target
    }
}

extension HTTPHeaders {
    /// Removes fields about a body that is no longer sent (RFC 9110 §15.4).
    package mutating func removeContentFields() {
        let others: [Name] = [.transferEncoding, .expect, .trailer, "Digest", "Repr-Digest", "Unencoded-Digest"]
        removeAll { $0.rawValue.hasASCIIPrefix("content-") || others.contains($0) }
    }
}

extension CallEvent {
    /// A redirect was followed (RFC 9110 §15.4) to this URL, which has no secrets.
    fileprivate static func redirect(status: HTTPStatus, target: String) -> CallEvent {
        CallEvent(
            "redirect", "followed \(status.code) to \(target)", ["status": .count(status.code), "target": .string(target)])
    }
}
