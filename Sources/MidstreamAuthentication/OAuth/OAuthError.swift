public import MidstreamCore

/// What a token endpoint answered in place of a token, or why it wasn't asked; the error behind
/// ``HTTPError/Code/authentication``.
public struct OAuthError: Error, Sendable, Hashable {
    /// The kind of failure (RFC 6749 §5.2). The set is open, since servers add codes of their own.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code as the server sends it.
        public let rawValue: String
        /// Makes a code of any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code as the server sends it.
        public var description: String { rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// The description by the server or the library. The values that were sent are withheld, but for grant type, client id and scope.
    /// Control characters are as the server sent them; ``description`` escapes them.
    public let message: String?
    /// A page about the error, when the server names one.
    public let uri: String?
    /// The status of the answer; nil when the endpoint wasn't asked.
    public let status: HTTPStatus?

    /// Makes an error, as tests do.
    public init(_ code: Code, _ message: String? = nil, uri: String? = nil, status: HTTPStatus? = nil) {
        self.code = code
        self.message = message
        self.uri = uri
        self.status = status
    }
}

extension OAuthError.Code {
    /// A parameter is missing or malformed.
    public static let invalidRequest = Self(rawValue: "invalid_request")
    /// The client isn't known, or its secret is wrong.
    public static let invalidClient = Self(rawValue: "invalid_client")
    /// The refresh token is expired, revoked or someone else's: the user has to log in again.
    public static let invalidGrant = Self(rawValue: "invalid_grant")
    /// Whether the refresh token is spent or dead, also in the words of GitHub and Slack.
    package var endsGrant: Bool { [Self.invalidGrant.rawValue, "bad_refresh_token", "invalid_refresh_token"].contains(rawValue) }
    /// The client may not use this grant.
    public static let unauthorizedClient = Self(rawValue: "unauthorized_client")
    /// The server doesn't know this grant.
    public static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
    /// The scope is unknown, or more than was granted.
    public static let invalidScope = Self(rawValue: "invalid_scope")
    /// The answer is neither a token nor an error as the RFC has them. The library's own.
    public static let malformedResponse = Self(rawValue: "malformed_response")
    /// There is no refresh token to obtain an access token with: nobody has logged in. The library's own.
    public static let noRefreshToken = Self(rawValue: "no_refresh_token")
}

extension OAuthError: PublicRefusal {
    /// The code alone: the rest of the server's text is in the underlying error. Where the answer has none, its status says more.
    package var publicReason: String {
        if code == .malformedResponse, let status, !status.isSuccess { return "the token endpoint answered \(status.code)" }
        return code.rawValue.isPlainCode ? code.rawValue : "an OAuth error"
    }
}

extension String {
    /// Whether it is made of what error codes are made of (RFC 6749 §5.2), and short.
    fileprivate var isPlainCode: Bool {
        1...64 ~= utf8.count && utf8.allSatisfy { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}

extension OAuthError: CustomStringConvertible {
    /// The code, the server's description and the status; control characters are escaped, since a terminal may obey them.
    public var description: String {
        "\(code)".escapingControls + (message.map { ": \($0.escapingControls)" } ?? "") + (status.map { " [\($0)]" } ?? "")
    }
}
