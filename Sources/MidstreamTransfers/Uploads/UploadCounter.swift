internal import Interception
internal import MidstreamCore

/// Counts what of an upload is handed to the transport, further in than what reads a body beforehand, for its digest or a signature.
/// There it also knows which URL an interim response answers, which redirects have changed, and all credentials that have been added.
struct UploadCounter: HTTPInterceptor {
    var stage: InterceptorStage { .exchange }

    var rank: InterceptorRank { .wire }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        if request.isForUploadElsewhere { request.removeCredentials() }
        guard let observer = request.uploadObserver else { return try await next(request) }
        var counted = request
        counted.body = request.body.observed(observer)
        if let tell = request.onUploadInterim {
            let (given, url) = (request.onInterim, request.urlText)
            counted.onInterim = { interim in
                tell(interim, url)
                given?(interim)
            }
        }
        var response = try await next(counted)
        response.request.body = request.body
        response.request.onInterim = request.onInterim
        return response
    }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("counts what is sent") }
}

private enum UploadObserverKey: RequestContextKey { static var defaultValue: (@Sendable () -> HTTPBody.Observer)? { nil } }
private enum UploadInterimKey: RequestContextKey {
    static var defaultValue: (@Sendable (InterimResponse, String) -> Void)? { nil }
}
private enum UploadElsewhereKey: RequestContextKey { static let defaultValue = false }

extension HTTPRequest {
    /// Follows each sending of the body.
    var uploadObserver: (@Sendable () -> HTTPBody.Observer)? {
        get { context[UploadObserverKey.self] }
        set { context[UploadObserverKey.self] = newValue }
    }

    /// Called with each interim response and the URL that it answers.
    var onUploadInterim: (@Sendable (InterimResponse, String) -> Void)? {
        get { context[UploadInterimKey.self] }
        set { context[UploadInterimKey.self] = newValue }
    }

    /// Whether it is about an upload at another origin than the one with which that began, so that no credentials go there, whoever adds
    /// them.
    var isForUploadElsewhere: Bool {
        get { context[UploadElsewhereKey.self] }
        set { context[UploadElsewhereKey.self] = newValue }
    }
}
