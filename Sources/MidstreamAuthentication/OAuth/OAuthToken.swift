public import Foundation

/// What a token endpoint gives out (RFC 6749 §5.1). Its description withholds the tokens; encoding it writes them out, so that a
/// ``TokenStore`` can keep them.
public struct OAuthToken: Sendable, Hashable, Codable {
    /// What requests carry.
    public var accessToken: String
    /// What a new access token is obtained with; nil when the server gave none.
    public var refreshToken: String?
    /// When the access token was obtained.
    public var obtained: Date
    /// When the access token expires; nil: the server gave no time.
    public var expires: Date?
    /// The granted scope, if it differs from the requested one (RFC 6749 §3.3).
    public var scope: String?

    /// Makes a token, such as one that a login brought.
    public init(
        accessToken: String, refreshToken: String? = nil, obtained: Date = Date(), expires: Date? = nil, scope: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.obtained = obtained
        self.expires = expires
        self.scope = scope
    }

    /// Whether the access token has expired or is about to.
    ///
    /// - Parameter leeway: How long before its end it counts as due, but never more than half of its life: a short-lived token
    ///   would be replaced on each request otherwise.
    func isDue(at now: Date, leeway: TimeInterval) -> Bool {
        guard let expires else { return false }
        return now >= expires - min(leeway, max(0, expires.timeIntervalSince(obtained) / 2))
    }
}

extension OAuthToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// When it expires and whether it can be refreshed, without the tokens.
    public var description: String {
        let end = expires.map { "expires \($0)" } ?? "without end"
        return "token, \(end), \(refreshToken == nil ? "can't be refreshed" : "can be refreshed")"
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["token": description]) }
}
