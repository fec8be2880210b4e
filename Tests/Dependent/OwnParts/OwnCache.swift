import Midstream
import Synchronization

/// Keeps whole answers for ever: a cache of ten lines.
final class OwnCache: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.cache
    let traits: InterceptorTraits = [.endsInTime, .impersonal]
    private let stored = Mutex<[String: HTTPResponse]>([:])

    init() {}

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard request.method == .get, !request.headers.contains(.authorization) else { return try await next(request) }
        if let known = stored.withLock({ $0[request.urlText] }) {
            request.record(CallEvent("own.cache.hit", "answered from memory"))
            return HTTPResponse(status: known.status, headers: known.headers, body: known.body, request: request)
        }
        let response = try await next(request)
        if response.status == .ok, response.body.bytes != nil { stored.withLock { $0[request.urlText] = response } }
        return response
    }
}
