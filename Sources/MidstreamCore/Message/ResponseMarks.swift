private enum FromCacheKey: RequestContextKey { static let defaultValue = false }
private enum MadeKey: RequestContextKey { static let defaultValue = false }

extension HTTPResponse {
    /// Whether its fields came from a cache, so that cookies in them have been stored before.
    package var isFromCache: Bool {
        get { context[FromCacheKey.self] }
        set { context[FromCacheKey.self] = newValue }
    }

    /// Whether it was made in place of a request that mayn't be sent, so that a retry is of no use.
    package var isMade: Bool {
        get { context[MadeKey.self] }
        set { context[MadeKey.self] = newValue }
    }
}
