internal import Interception
internal import MidstreamCore

/// Shows an observer the bodies of a request and its response as they pass the transport.
struct TransferInterceptor: HTTPInterceptor {
    let observer: TransferObserver

    var stage: InterceptorStage { .exchange }

    var rank: InterceptorRank { .wire }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var observed = request
        observed.body = observer.observing(sent: request.body)
        // The arrival of a body can be watched only while it arrives; the client collects it.
        if observer.watchesDownload { observed.isWatchedArriving = true }
        var response = try await next(observed)
        // No more than that: a cache looks at what was added further in.
        response.request.body = request.body
        response.request.isWatchedArriving = request.isWatchedArriving
        response.body = observer.observing(received: response.body)
        return response
    }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("reports progress") }
}
