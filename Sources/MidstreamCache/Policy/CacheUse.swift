public import MidstreamCore

/// How one request uses caches, beside its `Cache-Control`.
public enum CacheUse: Sendable, Hashable {
    /// By the fields.
    case standard
    /// The server answers, unconditionally, and its answer is stored.
    case reload
    /// Nothing stored answers, and nothing is stored.
    case noStore
    /// What is stored answers, or a made 504 does; nothing is sent, whatever the method.
    case onlyIfCached
    /// What is stored answers, fresh or stale; the server only when nothing is stored.
    case ignoringFreshness
}

private enum CacheUseKey: RequestContextKey { static var defaultValue: CacheUse { .standard } }

extension HTTPRequest {
    /// How the request uses caches, beside its `Cache-Control`; `.standard` by default. It doesn't go on the wire.
    public var cache: CacheUse {
        get { context[CacheUseKey.self] }
        set { context[CacheUseKey.self] = newValue }
    }
}
