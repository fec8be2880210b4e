import Dispatch
package import Interception
package import MidstreamCore

/// Passes on from a thread that belongs to no task.
package struct OtherThread: CompletionInterceptor, HTTPInterceptor {
    package let stage = InterceptorStage.call

    package init() {}

    package func intercept(
        _ input: HTTPRequest, next: CompletionNext<HTTPRequest, HTTPResponse>,
        completion: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Void
    ) {
        DispatchQueue.global().async { next(input) { completion($0) } }
    }
}
