/// An interceptor that may send a request again in place of an answer, such as a challenge, that nobody further out gets to see.
///
/// It shows the answer to ``HTTPRequest/onGivenUp`` before that.
package protocol Resending: HTTPInterceptor {}

/// Gets an answer that is given up, and the request that is sent in its place.
package typealias GivenUpHandler = @Sendable (HTTPResponse, inout HTTPRequest) -> Void

private enum GivenUpKey: RequestContextKey { static var defaultValue: GivenUpHandler? { nil } }

extension HTTPRequest {
    /// What an interceptor does about answers that one further in gives up.
    package var onGivenUp: GivenUpHandler? {
        get { context[GivenUpKey.self] }
        set { context[GivenUpKey.self] = newValue }
    }
}
