internal import Interception
internal import MidstreamCore

/// Counts what of an upload is handed to the transport, further in than what reads a body beforehand, for its digest or a signature.
struct UploadCounter: HTTPInterceptor {
    var stage: InterceptorStage { .exchange }

    var rank: InterceptorRank { .wire }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard let observer = request.uploadObserver else { return try await next(request) }
        var counted = request
        counted.body = request.body.observed(observer)
        var response = try await next(counted)
        response.request.body = request.body
        return response
    }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("counts what is sent") }
}

private enum UploadObserverKey: RequestContextKey { static var defaultValue: (@Sendable () -> HTTPBody.Observer)? { nil } }

extension HTTPRequest {
    /// Follows each sending of the body.
    var uploadObserver: (@Sendable () -> HTTPBody.Observer)? {
        get { context[UploadObserverKey.self] }
        set { context[UploadObserverKey.self] = newValue }
    }
}
