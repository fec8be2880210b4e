public import MidstreamCore

/// What one request wants of caches, beyond what its `Cache-Control` says.
public enum CacheUse: Sendable, Hashable {
    /// What the fields say.
    case standard
    /// The server answers, unconditionally, and its answer is stored.
    case reload
    /// Nothing stored answers, and nothing is stored.
    case noStore
    /// What is stored answers, or a made 504 does; nothing is sent.
    case onlyIfCached
    /// What is stored answers, fresh or stale; the server only when nothing is stored.
    case ignoringFreshness
}

private enum CacheUseKey: RequestContextKey {
    static var defaultValue: CacheUse { .standard }
}

extension HTTPRequest {
    /// What the request wants of caches, beyond what its `Cache-Control` says; `.standard` by default. It doesn't go on the wire.
    public var cache: CacheUse {
        get { context[CacheUseKey.self] }
        set { context[CacheUseKey.self] = newValue }
    }
}
