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
        let sent = Locked<Int64>(0)
        counted.body = request.body.observed { observer(sent) }
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
        response.uploadSent = sent
        return response
    }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("counts what is sent") }
}

private enum UploadObserverKey: RequestContextKey {
    static var defaultValue: (@Sendable (Locked<Int64>) -> HTTPBody.Observer)? { nil }
}
private enum UploadSentKey: RequestContextKey { static var defaultValue: Locked<Int64>? { nil } }
private enum UploadInterimKey: RequestContextKey {
    static var defaultValue: (@Sendable (InterimResponse, String) -> Void)? { nil }
}
private enum UploadElsewhereKey: RequestContextKey { static let defaultValue = false }

extension HTTPRequest {
    /// Follows each reading of the body. Given what holds the end of what has been handed to the transport for one answer, to move it on.
    var uploadObserver: (@Sendable (Locked<Int64>) -> HTTPBody.Observer)? {
        get { context[UploadObserverKey.self] }
        set { context[UploadObserverKey.self] = newValue }
    }

    /// Called with each interim response and the URL that it answers.
    var onUploadInterim: (@Sendable (InterimResponse, String) -> Void)? {
        get { context[UploadInterimKey.self] }
        set { context[UploadInterimKey.self] = newValue }
    }

    /// Whether it is about an upload neither at the origin with which that began nor at that one by https in place of http, so that no
    /// credentials go there, whoever adds them.
    var isForUploadElsewhere: Bool {
        get { context[UploadElsewhereKey.self] }
        set { context[UploadElsewhereKey.self] = newValue }
    }
}

extension HTTPResponse {
    /// The end of what of an upload has been handed to the transport for this answer, and not for a redirect or a 401 before it, or a hedge
    /// beside it; nil: it comes from no server, or was made anew.
    var uploadSent: Locked<Int64>? {
        get { context[UploadSentKey.self] }
        set { context[UploadSentKey.self] = newValue }
    }
}
