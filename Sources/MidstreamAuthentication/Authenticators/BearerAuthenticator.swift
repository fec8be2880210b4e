public import MidstreamCore

/// Puts a bearer token on requests (RFC 6750 §2.1), from wherever the app gets its tokens.
///
/// ```swift
/// AuthenticationInterceptor(BearerAuthenticator { rejected in try await session.token(insteadOf: rejected) })
/// ```
///
/// A request that has an `Authorization` of its own keeps it.
public struct BearerAuthenticator: Authenticator {
    /// The token, when it stays the same.
    private let fixed: String?
    private let expires: @Sendable (String) -> Bool
    private let provide: @Sendable (String?) async throws -> String

    /// Makes an authenticator for tokens that can be replaced.
    ///
    /// - Parameters:
    ///   - expires: Whether a token is to be replaced before it is used; by default none is.
    ///   - provide: Gives a token. It gets the one to be replaced; nil when there is none yet.
    public init(
        expires: @escaping @Sendable (String) -> Bool = { _ in false },
        _ provide: @escaping @Sendable (_ old: String?) async throws -> String
    ) {
        fixed = nil
        self.expires = expires
        self.provide = provide
    }

    /// Makes an authenticator for a token that stays the same; when it is rejected, that response is the answer.
    public init(token: String) {
        fixed = token
        expires = { _ in false }
        provide = { _ in token }
    }

    /// True.
    public var keepsOwnAuthorization: Bool { true }

    /// Sets `Authorization`, unless the request has one.
    public func apply(_ credential: String, to request: inout HTTPRequest) async throws {
        if !request.headers.contains(.authorization) { request.headers[.authorization] = "Bearer \(credential)" }
    }

    /// Whether the status is 401, and another token can be had.
    public func isRejected(_ response: HTTPResponse, using credential: String) -> Bool {
        fixed == nil && response.status == .unauthorized
    }

    /// The token, when it stays the same.
    public func fixedCredential() -> String? { fixed }

    /// Asks the closure.
    public func needsRefresh(_ credential: String) -> Bool { expires(credential) }

    /// Asks the closure.
    public func refresh(_ credential: String?) async throws -> String { try await provide(credential) }
}

extension BearerAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The scheme, without the token.
    public var description: String { "Bearer" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
