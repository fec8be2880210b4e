/// Gets an answer that is given up, and the request that is sent in its place.
package typealias GivenUpHandler = @Sendable (HTTPResponse, inout HTTPRequest) -> Void

private enum GivenUpKey: RequestContextKey { static var defaultValue: GivenUpHandler? { nil } }
private enum CookieChangesKey: RequestContextKey { static let defaultValue = 0 }

extension HTTPRequest {
    /// What an interceptor does about answers that one further in gives up.
    package var onGivenUp: GivenUpHandler? {
        get { context[GivenUpKey.self] }
        set { context[GivenUpKey.self] = newValue }
    }

    /// How often answers that were given up have changed the cookies, of which those who stand between know nothing.
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
        if let onGivenUp {
            let cookies = Set(headers.cookiePairs)
            onGivenUp(response, &self)
            if Set(headers.cookiePairs) != cookies { cookieChanges += 1 }
        }
        response.body.close()
    }
}
