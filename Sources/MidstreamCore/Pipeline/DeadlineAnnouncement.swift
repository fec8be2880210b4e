internal import Interception

/// Tells those further out that an interceptor at ``InterceptorStage/call`` was cancelled because of the deadline, if it was: its own waits
/// end like those of anybody else.
struct DeadlineAnnouncement: Interceptor {
    let base: any Interceptor<HTTPRequest, HTTPResponse>

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        do {
            return try await base.intercept(request, next: next)
        } catch let error as CancellationError {
            throw next.call?.deadline.reason(for: error) ?? error
        }
    }
}
