internal import Interception
internal import MidstreamCore

/// Where OAuth tokens are kept between requests: in memory, in a key chain, in a file that processes share.
public protocol TokenStore: Sendable {
    /// The token that is kept; nil when there is none.
    ///
    /// - Throws: An error, which makes the refresh fail that asks for it.
    func load() async throws -> OAuthToken?

    /// Keeps a token in place of the one that was kept; nil removes that.
    ///
    /// - Throws: An error, which makes the refresh fail that brought the token. A refresh token that can be used once is then
    ///   lost, so a store should throw only when it can't be helped.
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
