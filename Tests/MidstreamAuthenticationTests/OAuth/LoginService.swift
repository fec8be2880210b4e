import Foundation
import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport

/// A login server with rotating refresh tokens, and the API that it protects. Tokens are named after their users: `ann-1`, `ann-r1` …
final class LoginService: Sendable {
    private struct State {
        /// The number of each user's present token.
        var present: [String: Int] = [:]
        var spent: [String] = []
        var failures: [HTTPStatus] = []
    }

    private let state = Locked(State())
    /// Called with the refresh token before the answer is sent.
    private let beforeAnswer: @Sendable (String) async throws -> Void
    /// What a spent refresh token is answered with.
    private let refusal: (status: HTTPStatus, code: String)
    let calls: StubTransport

    init(
        refusal: (status: HTTPStatus, code: String) = (.badRequest, "invalid_grant"),
        beforeAnswer: @escaping @Sendable (String) async throws -> Void = { _ in }
    ) {
        self.refusal = refusal
        self.beforeAnswer = beforeAnswer
        let state = state
        calls = StubTransport { request in
            let token = request.headers[.authorization]?.dropFirst("Bearer ".count) ?? ""
            let isPresent = state.withLock { $0.present[Self.user(token)].map { token.hasSuffix("-\($0)") } ?? false }
            return HTTPResponse(status: isPresent ? .ok : .unauthorized, request: request)
        }
    }

    /// The user of a token; empty for none.
    static func user(_ token: some StringProtocol) -> String { String(token.prefix { $0 != "-" }) }

    /// The refresh tokens that have been sent, in order.
    var spent: [String] { state.withLock { $0.spent } }

    /// What each call was sent with, in order.
    var sent: [String] { calls.requests.map { ($0.headers[.authorization] ?? "").replacingOccurrences(of: "Bearer ", with: "") } }

    /// Answers the next requests for a token with these statuses.
    func fail(with statuses: [HTTPStatus]) { state.withLock { $0.failures = statuses } }

    /// Lets somebody else spend a refresh token.
    func markSpent(_ token: String) { state.withLock { $0.spent.append(token) } }

    /// Makes a token of a user the one that is accepted.
    func accept(_ user: String, _ number: Int) { state.withLock { $0.present[user] = number } }

    /// Makes the present token of a user unacceptable, as time does.
    func expire(_ user: String) { state.withLock { $0.present[user] = nil } }

    /// The token of a user's login, which is refused by the API: the first call needs a refresh.
    static func token(_ user: String) -> OAuthToken { OAuthToken(accessToken: "\(user)-0", refreshToken: "\(user)-r0") }

    /// A client with an authenticator of its own.
    func client(
        _ store: any TokenStore, credential: OAuthToken? = nil, refreshTimeout: Duration? = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> (client: HTTPClient, session: AuthenticationInterceptor<OAuthAuthenticator>) {
        let endpoint = OAuthTokenEndpoint(url: "https://login.example/token", client: "app") { [self] in
            try await answer($0)
        }
        let session = AuthenticationInterceptor(
            OAuthAuthenticator(.refreshToken(), from: endpoint, store: store), credential: credential,
            refreshTimeout: refreshTimeout, clock: clock)
        return (testClient(baseURL: "https://api.example", transport: calls) { session }, session)
    }

    private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        let form = String(decoding: request.body.bytes ?? [], as: UTF8.self)
        let token = form.components(separatedBy: "refresh_token=").last?.prefix { $0 != "&" } ?? ""
        let user = Self.user(token)
        let (isFirst, number, failure) = state.withLock { state -> (Bool, Int, HTTPStatus?) in
            if !state.failures.isEmpty { return (false, 0, state.failures.removeFirst()) }
            defer { state.spent.append(String(token)) }
            return (!state.spent.contains(String(token)), (Int(token.dropFirst(user.count + 2)) ?? 0) + 1, nil)
        }
        if let failure { return HTTPResponse(status: failure, body: .bytes(Array("down".utf8)), request: request) }
        try await beforeAnswer(String(token))
        guard isFirst else {
            let body = #"{"error":"\#(refusal.code)"}"#
            return HTTPResponse(status: refusal.status, body: .bytes(Array(body.utf8)), request: request)
        }
        state.withLock { $0.present[user] = number }
        let body = #"{"access_token":"\#(user)-\#(number)","token_type":"Bearer","refresh_token":"\#(user)-r\#(number)"}"#
        return HTTPResponse(status: .ok, body: .bytes(Array(body.utf8)), request: request)
    }
}

/// A store that a test can hold up and break.
final class TestTokenStore: TokenStore {
    struct Full: Error {}

    private let token: Locked<OAuthToken?>
    private let failures = Locked(0)
    private let beforeSave: @Sendable (OAuthToken?) async throws -> Void
    private let beforeLoad: @Sendable () async throws -> Void

    init(
        _ token: OAuthToken?, beforeSave: @escaping @Sendable (OAuthToken?) async throws -> Void = { _ in },
        beforeLoad: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.token = Locked(token)
        self.beforeSave = beforeSave
        self.beforeLoad = beforeLoad
    }

    var present: String? { token.withLock { $0?.accessToken } }

    /// Makes the next calls of `save` throw.
    func fail(_ count: Int) { failures.withLock { $0 = count } }

    /// What another process does.
    func replace(with token: OAuthToken?) { self.token.withLock { $0 = token } }

    func load() async throws -> OAuthToken? {
        try await beforeLoad()
        return token.withLock { $0 }
    }

    func save(_ token: OAuthToken?) async throws {
        try await beforeSave(token)
        let isFull = failures.withLock { failures in
            failures -= 1
            return failures >= 0
        }
        if isFull { throw Full() }
        replace(with: token)
    }
}

/// A value that stands for the same store wherever it is.
struct NamedTokenStore: TokenStore, Hashable {
    static let tokens = Locked<[String: OAuthToken]>([:])
    let name: String

    func load() async throws -> OAuthToken? { Self.tokens.withLock { $0[name] } }
    func save(_ token: OAuthToken?) async throws { Self.tokens.withLock { $0[name] = token } }
}
