enum TrailersKey: RequestContextKey { static var defaultValue: (@Sendable () -> HTTPHeaders)? { nil } }

extension HTTPRequest {
    /// Gives the fields after the body (RFC 9110 §6.5), when that has been sent to its end; none by default.
    ///
    /// When the body's length isn't known, the wire sends them, and libcurl over HTTP/1.1. Elsewhere they are left out without an error, since
    /// any recipient may do that as well. Called by the transport's thread, so it mustn't wait. Name them in `Trailer`.
    public var trailers: (@Sendable () -> HTTPHeaders)? {
        get { context[TrailersKey.self] }
        set { context[TrailersKey.self] = newValue }
    }

    /// Removes fields that must not go to another origin, before the body and after it.
    package mutating func removeCredentials() {
        headers.removeCredentials()
        guard let trailers else { return }
        self.trailers = {
            var fields = trailers()
            fields.removeCredentials()
            return fields
        }
    }
}
