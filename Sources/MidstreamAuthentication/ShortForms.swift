public import MidstreamCore

extension PipelineBuilder {
    /// An authenticator alone, for an ``AuthenticationInterceptor`` with the default settings.
    public static func buildExpression(_ authenticator: some Authenticator) -> [any HTTPInterceptor] {
        [AuthenticationInterceptor(authenticator)]
    }
}

extension ChainedHTTPInterceptor {
    /// Bearer tokens from wherever the app gets them; see ``BearerAuthenticator``.
    ///
    /// - Parameter provide: Gives a token; asked once for all who need one, when there is none yet and when the present one is rejected. It
    ///   gets the token to be replaced.
    public static func bearer(_ provide: @escaping @Sendable (_ old: String?) async throws -> String) -> Self {
        .chain(inOrder: [AuthenticationInterceptor(BearerAuthenticator(provide))])
    }

    /// Bearer tokens from wherever the app gets them.
    ///
    /// - Parameter provide: Gives a token; asked once for all who need one, when there is none yet and when the present one is rejected.
    public static func bearer(_ provide: @escaping @Sendable () async throws -> String) -> Self {
        .chain(inOrder: [AuthenticationInterceptor(BearerAuthenticator { _ in try await provide() })])
    }

    /// A bearer token that stays the same.
    public static func bearer(_ token: String) -> Self {
        .chain(inOrder: [AuthenticationInterceptor(BearerAuthenticator(token: token))])
    }

    /// A user name and a password; see ``BasicAuthenticator``.
    public static func basic(user: String, password: String) -> Self {
        .chain(inOrder: [AuthenticationInterceptor(BasicAuthenticator(user: user, password: password))])
    }

    /// OAuth 2 access tokens; see ``OAuthAuthenticator``.
    ///
    /// - Parameters:
    ///   - grant: How a token is obtained.
    ///   - endpoint: Where it is obtained from.
    ///   - store: Where it is kept; in memory by default.
    public static func oauth(
        _ grant: OAuthAuthenticator.Grant, from endpoint: OAuthTokenEndpoint, store: any TokenStore = InMemoryTokenStore()
    ) -> Self {
        .chain(inOrder: [AuthenticationInterceptor(OAuthAuthenticator(grant, from: endpoint, store: store))])
    }

    /// An API key in a header; see ``APIKeyInterceptor``.
    ///
    /// - Parameter name: The header's name; `X-API-Key` by default.
    public static func apiKey(_ key: String, header name: HTTPHeaders.Name = "X-API-Key") -> Self {
        .chain(inOrder: [APIKeyInterceptor(key, header: name)])
    }

    /// An API key in an item of the query; see ``APIKeyInterceptor``.
    public static func apiKey(_ key: String, query name: String) -> Self {
        .chain(inOrder: [APIKeyInterceptor(key, query: name)])
    }
}

extension HTTPInterceptor {
    /// The same for a line that follows another.
    public func bearer(_ provide: @escaping @Sendable (_ old: String?) async throws -> String) -> ChainedHTTPInterceptor {
        chain(before: AuthenticationInterceptor(BearerAuthenticator(provide)))
    }

    /// The same for a line that follows another.
    public func bearer(_ provide: @escaping @Sendable () async throws -> String) -> ChainedHTTPInterceptor {
        chain(before: AuthenticationInterceptor(BearerAuthenticator { _ in try await provide() }))
    }

    /// The same for a line that follows another.
    public func bearer(_ token: String) -> ChainedHTTPInterceptor {
        chain(before: AuthenticationInterceptor(BearerAuthenticator(token: token)))
    }

    /// The same for a line that follows another.
    public func basic(user: String, password: String) -> ChainedHTTPInterceptor {
        chain(before: AuthenticationInterceptor(BasicAuthenticator(user: user, password: password)))
    }

    /// The same for a line that follows another.
    public func oauth(
        _ grant: OAuthAuthenticator.Grant, from endpoint: OAuthTokenEndpoint, store: any TokenStore = InMemoryTokenStore()
    ) -> ChainedHTTPInterceptor {
        chain(before: AuthenticationInterceptor(OAuthAuthenticator(grant, from: endpoint, store: store)))
    }

    /// The same for a line that follows another.
    public func apiKey(_ key: String, header name: HTTPHeaders.Name = "X-API-Key") -> ChainedHTTPInterceptor {
        chain(before: APIKeyInterceptor(key, header: name))
    }

    /// The same for a line that follows another.
    public func apiKey(_ key: String, query name: String) -> ChainedHTTPInterceptor {
        chain(before: APIKeyInterceptor(key, query: name))
    }
}
