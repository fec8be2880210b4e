public import MidstreamCore

/// Puts a user name and a password on requests (RFC 7617), without waiting to be asked for them.
///
/// They are the same for ever, so when they are rejected, that response is the answer. A request that has an `Authorization`
/// of its own keeps it.
public struct BasicAuthenticator: Authenticator {
    private let user: String
    private let password: String

    /// A user name and a password, as they are put on requests. Shows neither.
    public struct Credential: Sendable, CustomStringConvertible, CustomReflectable {
        fileprivate let field: String

        /// A mark in place of the credential.
        public var description: String { String.withheld }
        /// Shows nothing.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// Makes an authenticator. Both are sent as UTF-8.
    ///
    /// - Parameter user: A name with a colon can't be sent, and makes calls fail with ``HTTPError/Code/authentication``.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Sets `Authorization`, unless the request has one.
    public func apply(_ credential: Credential, to request: inout HTTPRequest) async throws {
        if !request.headers.contains(.authorization) { request.headers[.authorization] = credential.field }
    }

    /// False.
    public func isRejected(_ response: HTTPResponse, using credential: Credential) -> Bool { false }

    /// The user name and the password, encoded.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` when the name has a colon, which the scheme uses to end it.
    public func fixedCredential() throws -> Credential? { try encoded() }

    /// The user name and the password, encoded; talks to nobody.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` when the name has a colon, which the scheme uses to end it.
    public func refresh(_ credential: Credential?) async throws -> Credential { try encoded() }

    private func encoded() throws -> Credential {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw HTTPError(.invalidRequest, "A user name with a colon can't be sent in the Basic scheme.", phase: .notSent)
        }
        return Credential(field: .basic(user: user, password: password))
    }
}

extension BasicAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The scheme, without the credential.
    public var description: String { "Basic" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
