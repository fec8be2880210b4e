public import MidstreamCore

/// Puts a user name and a password on requests (RFC 7617), without waiting to be asked for them.
///
/// They are the same for ever, so when they are rejected, that response is the answer. A request that has an `Authorization`
/// of its own keeps it.
public struct BasicAuthenticator: Authenticator {
    private let user: String
    private let password: String

    /// Makes an authenticator. Both are sent as UTF-8.
    ///
    /// - Parameter user: A name with a colon can't be sent, and makes calls fail with ``HTTPError/Code/authentication``.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// True.
    public var keepsOwnAuthorization: Bool { true }

    /// Sets `Authorization`, unless the request has one.
    ///
    /// - Parameter credential: The header, which no description shows.
    public func apply(_ credential: HTTPHeaders, to request: inout HTTPRequest) async throws {
        if !request.headers.contains(.authorization) { request.headers[.authorization] = credential[.authorization] }
    }

    /// False.
    public func isRejected(_ response: HTTPResponse, using credential: HTTPHeaders) -> Bool { false }

    /// The user name and the password, encoded.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` when the name has a colon, which the scheme uses to end it.
    public func fixedCredential() throws -> HTTPHeaders? { try encoded() }

    /// The user name and the password, encoded; talks to nobody.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` when the name has a colon, which the scheme uses to end it.
    public func refresh(_ credential: HTTPHeaders?) async throws -> HTTPHeaders { try encoded() }

    private func encoded() throws -> HTTPHeaders {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw HTTPError(.invalidRequest, "A user name with a colon can't be sent in the Basic scheme.", phase: .notSent)
        }
        return [.authorization: .basic(user: user, password: password)]
    }
}

extension BasicAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The scheme, without the credential.
    public var description: String { "Basic" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
