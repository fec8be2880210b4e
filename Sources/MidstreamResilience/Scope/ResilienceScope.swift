public import MidstreamCore

/// Which requests share a limit, a breaker's verdict, a quota or a measurement.
///
/// Of more than 10,000 keys those least recently used are forgotten, but none with requests under way, nor with a breaker that isn't closed or
/// has just seen failures: see ``maximumKeys(_:)``.
public struct ResilienceScope: Sendable {
    enum Kind: Sendable {
        case origin
        case client
        case key(@Sendable (HTTPRequest) -> String)
    }

    let kind: Kind
    private(set) var maximumKeys = 10_000

    /// Those to the same scheme, host and port: the default, since one server's trouble is no other's.
    public static let origin = ResilienceScope(kind: .origin)
    /// All that pass through the interceptor.
    public static let client = ResilienceScope(kind: .client)

    /// Those for which the closure gives the same text, such as a tenant. It is called in the request's task, once for each exchange; the
    /// text appears in errors, traces and reports, so it mustn't be secret.
    public static func key(_ key: @escaping @Sendable (HTTPRequest) -> String) -> ResilienceScope {
        ResilienceScope(kind: .key(key))
    }

    /// The same, of which so many keys are remembered; at least 1, and 10,000 unless said otherwise.
    ///
    /// ```swift
    /// CircuitBreaker(scope: .origin.maximumKeys(100_000))
    /// ```
    ///
    /// More are kept only as long as all of them are needed: permits that are taken, requests that wait, a breaker's failures of its window and
    /// its longest break, quotas that are used up.
    public func maximumKeys(_ count: Int) -> ResilienceScope {
        var scope = self
        scope.maximumKeys = max(1, count)
        return scope
    }
}
