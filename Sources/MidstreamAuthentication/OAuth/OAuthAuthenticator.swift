public import Foundation
public import MidstreamCore

/// Obtains OAuth 2 access tokens and puts them on requests as bearer tokens (RFC 6749, RFC 6750 §2.1).
///
/// ```swift
/// let endpoint = OAuthTokenEndpoint(
///     url: "https://login.example.com/token", client: "app", secret: secret, using: loginClient)
/// let client = HTTPClient(baseURL: "https://api.example.com") {
///     AuthenticationInterceptor(OAuthAuthenticator(.clientCredentials(scope: "read"), from: endpoint))
/// }
/// ```
///
/// The store is read first: a token in it that isn't the rejected one and hasn't expired is used without a request, be it from
/// an earlier run of the process or from another one that shares the store.
///
/// The store belongs to one login. The interceptors of all authenticators with the same store, which is the same object or an equal
/// value, have one credential and refresh it once; ``AuthenticationInterceptor/logIn(_:)`` and ``AuthenticationInterceptor/logOut()`` on one
/// of them are for all. A refresh of another process that was quicker with a refresh token is found in the store.
public struct OAuthAuthenticator: Authenticator {
    /// How a token is obtained.
    public enum Grant: Sendable, Hashable {
        /// By the client's own right (RFC 6749 §4.4).
        case clientCredentials(scope: String? = nil)
        /// By the refresh token that is in the store or came with the last token (RFC 6749 §6).
        case refreshToken(scope: String? = nil)
    }

    /// How a token is obtained.
    public let grant: Grant
    private let endpoint: OAuthTokenEndpoint
    private let tokens: StoredTokens
    private let leeway: TimeInterval
    /// The time that ends are compared with.
    package let now: @Sendable () -> Date

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - endpoint: Where it is obtained from.
    ///   - store: Where it is kept; in memory by default. For the refresh-token grant it has to hold what the login brought.
    ///   - leeway: How long before its end a token is replaced; 60 s by default, but at most half of the token's life.
    ///   - now: The time that ends are compared with.
    public init(
        _ grant: Grant, from endpoint: OAuthTokenEndpoint, store: any TokenStore = InMemoryTokenStore(),
        leeway: Duration = .seconds(60), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.grant = grant
        self.endpoint = endpoint
        tokens = .of(store)
        self.leeway = leeway / .seconds(1)
        self.now = now
    }

    /// True.
    public var keepsOwnAuthorization: Bool { true }

    /// Sets `Authorization`, unless the request has one.
    public func apply(_ credential: OAuthToken, to request: inout HTTPRequest) async throws {
        if !request.headers.contains(.authorization) { request.headers[.authorization] = "Bearer \(credential.accessToken)" }
    }

    /// Whether the token has expired or is about to.
    public func needsRefresh(_ credential: OAuthToken) -> Bool { credential.isDue(at: now(), leeway: leeway) }

    /// A token from the store, or else from the endpoint. Saves nothing: the interceptor calls ``save(_:)``.
    ///
    /// - Throws: ``OAuthError``; ``RefreshRefusal/loginEnded`` when the store was emptied meanwhile; what the store and the sending of the
    ///   request throw.
    public func refresh(_ credential: OAuthToken?) async throws -> OAuthToken {
        let stored = try await tokens.load()
        do {
            return try await successor(of: credential, stored: stored)
        } catch let error as OAuthError where error.code.endsGrant {
            // Another process may have spent the refresh token, and kept what it got for it.
            guard let newer = try await tokens.load(), newer.refreshToken != stored?.refreshToken else { throw error }
            return try await successor(of: credential, stored: newer)
        }
    }

    /// Puts the token into the store; nil empties it.
    public func save(_ credential: OAuthToken?) async throws { try await tokens.save(credential) }

    private func successor(of credential: OAuthToken?, stored: OAuthToken?) async throws -> OAuthToken {
        if let stored, stored.accessToken != credential?.accessToken, !needsRefresh(stored) { return stored }
        let token = try await obtained(with: stored?.refreshToken)
        let present: OAuthToken?
        // A store that can't be read now must not cost the token.
        do { present = try await tokens.load() } catch { present = stored }
        guard present?.accessToken == stored?.accessToken else {
            // A login or a logout of another process counts more.
            guard let present else { throw RefreshRefusal.loginEnded }
            return present
        }
        tokens.note(refreshed: token)
        return token
    }

    private func obtained(with refreshToken: String?) async throws -> OAuthToken {
        switch grant {
        case .clientCredentials(let scope):
            return try await endpoint.token(for: [("grant_type", "client_credentials")] + Self.fields(scope))
        case .refreshToken(let scope):
            guard let refreshToken else {
                throw OAuthError(.noRefreshToken, "There is no refresh token: nobody has logged in.")
            }
            var token = try await endpoint.token(
                for: [("grant_type", "refresh_token"), ("refresh_token", refreshToken)] + Self.fields(scope))
            // A server that sends none means that the old one stays good (RFC 6749 §6).
            token.refreshToken = token.refreshToken ?? refreshToken
            return token
        }
    }

    private static func fields(_ scope: String?) -> [(String, String)] { scope.map { [("scope", $0)] } ?? [] }
}

extension OAuthAuthenticator: CredentialExpiring {
    package func hasEnded(_ credential: OAuthToken) -> Bool { credential.expires.map { $0 <= now() } ?? false }
}

extension OAuthAuthenticator: LoginSharing {
    func login(on clock: any Clock<Duration>) -> Login<OAuthToken> { tokens.login(on: clock) }
}

extension OAuthAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The endpoint without its secrets.
    public var description: String { "OAuth by \(endpoint)" }
    /// Shows how a token is obtained and where; of the store the name, since nobody knows what it shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["grant": grant, "endpoint": endpoint, "store": "\(type(of: tokens.store))"])
    }
}
