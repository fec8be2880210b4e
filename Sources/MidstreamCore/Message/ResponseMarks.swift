private enum FromCacheKey: RequestContextKey { static let defaultValue = false }
private enum ConfirmationKey: RequestContextKey { static let defaultValue: HTTPHeaders? = nil }
private enum MadeKey: RequestContextKey { static let defaultValue = false }
private enum DecodedUnseenKey: RequestContextKey { static let defaultValue = false }

extension HTTPResponse {
    /// Whether its fields came from a cache, so that what they want kept was kept when they came from the server.
    package var isFromCache: Bool {
        get { context[FromCacheKey.self] }
        set { context[FromCacheKey.self] = newValue }
    }

    /// The fields of the answer by which the server has confirmed or completed what was stored, or failed to, or of one whose own caller has
    /// left; nil: there was none.
    package var confirmation: HTTPHeaders? {
        get { context[ConfirmationKey.self] }
        set { context[ConfirmationKey.self] = newValue }
    }

    /// The fields that have come from the server for it, and not for an earlier one.
    package var receivedHeaders: HTTPHeaders { isFromCache ? confirmation ?? [:] : headers }

    /// Whether it was made in place of a request that mayn't be sent, so that a retry is of no use.
    package var isMade: Bool {
        get { context[MadeKey.self] }
        set { context[MadeKey.self] = newValue }
    }

    /// Whether the system has decoded the body unseen, whatever the request asks for: its bytes aren't those that the server counts.
    package var isDecodedUnseen: Bool {
        get { context[DecodedUnseenKey.self] }
        set { context[DecodedUnseenKey.self] = newValue }
    }
}
