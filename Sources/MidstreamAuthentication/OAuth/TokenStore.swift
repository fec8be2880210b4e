internal import Interception

/// Where the OAuth tokens of one login are kept between requests: in memory, in a key chain, in a file that processes share.
///
/// Clients that share a store refresh its token once. Make it a class, an actor or a `Hashable` value, by which the same store is known;
/// any other value is a store of its own in each ``OAuthAuthenticator``.
public protocol TokenStore: Sendable {
    /// The token that is kept; nil when there is none.
    ///
    /// - Throws: An error, which makes the refresh fail that asks for it.
    func load() async throws -> OAuthToken?

    /// Keeps a token in place of the one that was kept; nil removes that.
    ///
    /// - Throws: An error. The token is used all the same, and saved again with later requests; see ``Authenticator/save(_:)``. Before that,
    ///   the store is read: what another process has put there counts more than what a refresh has brought.
    func save(_ token: OAuthToken?) async throws
}

/// Keeps a token for as long as the process runs.
public final class InMemoryTokenStore: TokenStore {
    private let token: Locked<OAuthToken?>

    /// Makes a store.
    ///
    /// - Parameter token: What it holds at first, such as what a login brought; nothing by default.
    public init(_ token: OAuthToken? = nil) { self.token = Locked(token) }

    /// The token.
    public func load() async throws -> OAuthToken? { token.withLock { $0 } }

    /// Replaces the token.
    public func save(_ token: OAuthToken?) async throws { self.token.withLock { $0 = token } }
}

extension InMemoryTokenStore: CustomReflectable {
    /// Shows nothing of the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
