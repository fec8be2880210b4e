public import MidstreamCore

/// Which requests share a limit, a breaker's verdict, a quota or a measurement.
///
/// At most 1,000 keys are kept; beyond that the one least recently used is forgotten.
public struct ResilienceScope: Sendable {
    enum Kind: Sendable {
        case origin
        case client
        case key(@Sendable (HTTPRequest) -> String)
    }

    let kind: Kind

    /// Whether a closure tells the key.
    var asksSomebody: Bool { if case .key = kind { true } else { false } }

    /// Those to the same scheme, host and port: the default, since one server's trouble is no other's.
    public static let origin = ResilienceScope(kind: .origin)
    /// All that pass through the interceptor.
    public static let client = ResilienceScope(kind: .client)

    /// Those for which the closure gives the same text, such as a tenant. It is called in the request's task, once for each exchange; the
    /// text appears in errors, traces and reports, so it mustn't be secret.
    public static func key(_ key: @escaping @Sendable (HTTPRequest) -> String) -> ResilienceScope {
        ResilienceScope(kind: .key(key))
    }
}
