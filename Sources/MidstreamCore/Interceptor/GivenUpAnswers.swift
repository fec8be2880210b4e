/// Gets an answer that is given up, and the request that is sent in its place; nil: one that has waited, and isn't sent yet.
package typealias GivenUpHandler = @Sendable (HTTPResponse?, inout HTTPRequest) -> Void

private enum GivenUpKey: RequestContextKey { static var defaultValue: GivenUpHandler? { nil } }
private enum CookieChangesKey: RequestContextKey { static let defaultValue = 0 }

extension HTTPRequest {
    /// What an interceptor does about answers that one further in gives up.
    package var onGivenUp: GivenUpHandler? {
        get { context[GivenUpKey.self] }
        set { context[GivenUpKey.self] = newValue }
    }

    /// How often those further out have changed the cookies behind those who stand between, who know nothing of it.
    package private(set) var cookieChanges: Int {
        get { context[CookieChangesKey.self] }
        set { context[CookieChangesKey.self] = newValue }
    }

    /// Closes an answer in whose place this request is sent again, such as a challenge, and has those further out see it before: cookies
    /// that it sets are kept, and come with this request.
    ///
    /// Needs the trait ``InterceptorTraits/givesUpAnswers``: without it, interceptors further out see the answer only if another one further in
    /// has the trait. Call it on the request as the interceptor was given it.
    ///
    /// ```swift
    /// let response = try await next(request)
    /// guard response.status == .unauthorized else { return response }
    /// var answer = request
    /// answer.giveUp(response)
    /// answer.headers[.authorization] = credentials(for: response)
    /// return try await next(answer)
    /// ```
    public mutating func giveUp(_ response: HTTPResponse) {
        renewCookies(after: response)
        response.body.close()
    }

    /// Has those further out replace their cookies by those that there are now, such as after a wait in which somebody has logged in.
    ///
    /// - Parameter response: One that is given up, whose cookies they keep before.
    package mutating func renewCookies(after response: HTTPResponse? = nil) {
        guard let onGivenUp else { return }
        let cookies = Set(headers.cookiePairs)
        onGivenUp(response, &self)
        if Set(headers.cookiePairs) != cookies { cookieChanges += 1 }
    }
}
