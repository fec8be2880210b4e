public import MidstreamCore

private enum CacheStatusKey: RequestContextKey { static var defaultValue: CacheStatus? { nil } }

extension HTTPResponse {
    /// How the cache handled the request; nil when none did.
    public internal(set) var cacheStatus: CacheStatus? {
        get { context[CacheStatusKey.self] }
        set { context[CacheStatusKey.self] = newValue }
    }
}
