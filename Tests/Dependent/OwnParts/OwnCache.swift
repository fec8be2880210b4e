import Midstream
import Synchronization

/// Keeps whole answers for ever, each for the user who got it.
final class OwnCache: HTTPInterceptor {
    /// By the fields users are told apart whose cookie or key came before the cache, by the identities those whose comes behind it.
    private struct Key: Hashable {
        let url: String
        let headers: HTTPHeaders
        let users: [RequestIdentity]

        /// Whether somebody further in who doesn't say whose requests are has added a credential.
        func lacksUser(of response: HTTPResponse, to request: HTTPRequest) -> Bool {
            (users.isEmpty || users.contains(.unknown)) && response.request.hasSecrets(beyond: request)
        }
    }

    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.cache
    let traits: InterceptorTraits = [.endsInTime, .impersonal]
    private let stored = Mutex<[Key: HTTPResponse]>([:])

    init() {}

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard request.method == .get else { return try await next(request) }
        let key = Key(url: request.urlText, headers: request.headers, users: next.identities(of: request))
        if let known = stored.withLock({ $0[key] }) {
            request.record(CallEvent("own.cache.hit", "answered from memory"))
            return HTTPResponse(status: known.status, headers: known.headers, body: known.body, request: request)
        }
        let response = try await next(request)
        // Somebody else may have logged in meanwhile.
        let isSameUser = next.identities(of: request) == key.users
        if response.status == .ok, response.body.bytes != nil, isSameUser, !key.lacksUser(of: response, to: request) {
            stored.withLock { $0[key] = response }
        }
        return response
    }
}
