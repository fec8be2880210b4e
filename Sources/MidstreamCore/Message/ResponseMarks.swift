private enum FromCacheKey: RequestContextKey {
    static let defaultValue = false
}

private enum MadeKey: RequestContextKey {
    static let defaultValue = false
}

extension HTTPResponse {
    /// Whether its fields have been another response's before, so that what they say once, such as cookies, has been heard.
    package var isFromCache: Bool {
        get { context[FromCacheKey.self] }
        set { context[FromCacheKey.self] = newValue }
    }

    /// Whether it was made because the request mayn't be sent, so that sending it again is of no use.
    package var isMade: Bool {
        get { context[MadeKey.self] }
        set { context[MadeKey.self] = newValue }
    }
}
