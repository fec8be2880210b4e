public import MidstreamCore

/// Which requests share a limit, a breaker, a quota or a measurement.
///
/// Of more than 10,000 keys those not used for longest are forgotten, but none with requests under way, nor with a breaker that is open or
/// being probed, or has just seen failures: see ``maximumKeys(_:)``.
public struct ResilienceScope: Sendable {
    enum Kind: Sendable {
        case origin
        case client
        case key(@Sendable (HTTPRequest) -> String)
    }

    let kind: Kind
    private(set) var maximumKeys = 10_000

    /// Those to the same scheme, host and port: the default.
    public static let origin = ResilienceScope(kind: .origin)
    /// All that pass through the interceptor.
    public static let client = ResilienceScope(kind: .client)

    /// Those for which the closure returns the same text, such as a tenant. It is called in the request's task, once for each exchange; the
    /// text appears in errors, traces and reports, so it mustn't be secret.
    public static func key(_ key: @escaping @Sendable (HTTPRequest) -> String) -> ResilienceScope {
        ResilienceScope(kind: .key(key))
    }

    /// The same with another number of keys that are remembered; at least 1, by default 10,000.
    ///
    /// ```swift
    /// CircuitBreaker(scope: .origin.maximumKeys(100_000))
    /// ```
    ///
    /// More are kept only while they are needed: for permits in use, waiting requests, a breaker's recent failures, quotas that are used up.
    public func maximumKeys(_ count: Int) -> ResilienceScope {
        var scope = self
        scope.maximumKeys = max(1, count)
        return scope
    }
}
