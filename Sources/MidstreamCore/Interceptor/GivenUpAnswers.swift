package import Interception

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

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// Whether an interceptor further in may give up answers, so that ``HTTPRequest/onGivenUp`` is of use.
    package var mayGiveUpAnswers: Bool {
        // A chain of its own within an interceptor doesn't see who comes behind it.
        guard let exchange = links.steps[links.steps.count - 1] as? Exchange else { return true }
        return exchange.lastResending >= Int(index)
    }
}
