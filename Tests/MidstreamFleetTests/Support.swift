import Foundation
import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport

@testable import MidstreamFleet

let testKey = makeKey(1)

func makeKey(_ number: UInt8, alsoOpening other: UInt8? = nil) -> FleetKey {
    func text(_ number: UInt8) -> String { Data(repeating: number, count: 32).base64EncodedString() }
    guard let key = try? FleetKey(base64: text(number), alsoOpening: other.map(text)) else {
        preconditionFailure("32 bytes are a key")
    }
    return key
}

/// An issuer whose refresh tokens can be used once, and that counts which were used again.
final class Issuer: Sendable {
    struct Counts: Equatable {
        var refreshes = 0
        var reuses = 0
    }

    private struct State {
        var number = 0
        var counts = Counts()
        var isRevoked = false
        var failures = 0
        /// The access token that the server takes; another one has to be obtained when it is expired.
        var taken = 0
    }

    private let state = Locked(State(taken: 1))
    let life: TimeInterval
    /// Awaited before and after a token is spent.
    let before: @Sendable () async throws -> Void
    let after: @Sendable () async throws -> Void

    init(
        life: TimeInterval = 3600, before: @escaping @Sendable () async throws -> Void = {},
        after: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.life = life
        self.before = before
        self.after = after
    }

    var counts: Counts { state.withLock { $0.counts } }
    /// What the server takes; nothing after ``revokeAccess()`` until there is a newer one.
    var current: String? { state.withLock { $0.number >= $0.taken ? "canary-access-\($0.number)" : nil } }

    /// Makes the present access token worthless.
    func revokeAccess() { state.withLock { $0.taken = $0.number + 1 } }

    var first: OAuthToken { OAuthToken(accessToken: "canary-access-0", refreshToken: "canary-refresh-0", expires: .distantPast) }

    /// Makes the next refreshes fail.
    func fail(_ count: Int) { state.withLock { $0.failures = count } }

    /// As the token endpoint of a server.
    func respond(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await before()
        let form = String(decoding: request.body.bytes ?? [], as: UTF8.self)
        let response = state.withLock { state -> HTTPResponse in
            guard state.failures == 0 else {
                state.failures -= 1
                return HTTPResponse(status: 503, request: request)
            }
            guard form.contains("canary-refresh-\(state.number)"), !state.isRevoked else {
                state.counts.reuses += 1
                state.isRevoked = true
                return HTTPResponse(status: 400, body: .bytes(Array(#"{"error":"invalid_grant"}"#.utf8)), request: request)
            }
            state.number += 1
            state.counts.refreshes += 1
            let answer =
                #"{"access_token":"canary-access-\#(state.number)","refresh_token":"canary-refresh-\#(state.number)","#
                + #""token_type":"bearer","expires_in":\#(life)}"#
            return HTTPResponse(status: 200, body: .bytes(Array(answer.utf8)), request: request)
        }
        try await after()
        return response
    }

    /// Of one member, with a store of its own in memory.
    func authenticator(
        leeway: Duration = .zero, now: @escaping @Sendable () -> Date = { Date() }
    ) -> OAuthAuthenticator {
        let endpoint = OAuthTokenEndpoint(url: "https://issuer.test/token", client: "app", now: now) { request in
            try await self.respond(request)
        }
        return OAuthAuthenticator(.refreshToken(), from: endpoint, store: InMemoryTokenStore(first), leeway: leeway, now: now)
    }

    /// A client of one member, whose server takes the current token only.
    func client(
        _ fleet: Fleet, as name: String = "partner-api", whenAlone: TokenWhenAlone? = nil,
        reuseInterval: Duration? = nil, limit: Int = 5
    ) -> HTTPClient {
        client(
            AuthenticationInterceptor(
                fleet.sharing(
                    authenticator(), as: name, whenAlone: whenAlone, reuseInterval: reuseInterval),
                credential: first, origins: ["https://api.test"], refreshLimit: limit))
    }

    /// The same with an authentication of its own.
    func client(_ authentication: some HTTPInterceptor) -> HTTPClient {
        let stub = StubTransport { [self] request in
            let isGood = current.map { "Bearer \($0)" } == request.headers[.authorization]
            return HTTPResponse(status: isGood ? 200 : 401, request: request)
        }
        var configuration = HTTPClient.Configuration()
        configuration.validators = []
        return testClient(configuration: configuration, transport: stub) { authentication }
    }
}

extension HTTPClient {
    /// The status of a call.
    func status() async throws -> HTTPStatus { try await send(HTTPRequest("https://api.test/")).status }
}
