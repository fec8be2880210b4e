/// What to do about a response that redirects (RFC 9110 §15.4).
public struct RedirectPolicy: Sendable {
    enum Mode: Sendable {
        case follow
        case custom(@Sendable (HTTPRequest, HTTPResponse) async throws -> HTTPRequest?)
        case refuse
        case inherited
    }

    let mode: Mode
    /// How many redirects of one attempt are followed before it fails with ``HTTPError/Code/tooManyRedirects``.
    public let limit: Int
    /// Whether an https URL may redirect to an http one; false by default. Where it may not, the redirect is the response.
    public let allowsDowngrade: Bool
    let keepsHeaders: Bool

    /// Follows up to `limit` redirects (10 in a client's default).
    ///
    /// 303 becomes `GET` (`HEAD` stays), and so does 301 or 302 after `POST`; any other method and its body are kept. A redirect
    /// to another origin drops `Authorization`, `Cookie`, `Proxy-Authorization` and every header marked sensitive.
    ///
    /// - Parameter allowsDowngrade: Whether to follow from https to http.
    public static func follow(limit: Int = 10, allowsDowngrade: Bool = false) -> RedirectPolicy {
        RedirectPolicy(mode: .follow, limit: limit, allowsDowngrade: allowsDowngrade, keepsHeaders: false)
    }

    /// Follows as ``follow(limit:allowsDowngrade:)`` does and, within the origin, repeats the original method, headers and body
    /// whatever the status. To another origin it behaves as that one, so that no credential leaks.
    public static func followWithOriginalHeaders(limit: Int = 10) -> RedirectPolicy {
        RedirectPolicy(mode: .follow, limit: limit, allowsDowngrade: false, keepsHeaders: true)
    }

    /// Asks the closure about each redirect: the request to send next, or nil to take the redirect as the response.
    ///
    /// A request that the closure makes itself takes what it doesn't set from the one before: limits, decoder and other values of the context,
    /// but not ``HTTPRequest/route``, ``HTTPRequest/address``, ``HTTPRequest/trailers`` and ``HTTPRequest/allowsUnsafeRetry``.
    ///
    /// - Parameters:
    ///   - limit: How many redirects are followed.
    ///   - decide: Gets the request that ``follow(limit:allowsDowngrade:)`` would send next and the redirecting response.
    public static func custom(
        limit: Int = 10, _ decide: @escaping @Sendable (HTTPRequest, HTTPResponse) async throws -> HTTPRequest?
    ) -> RedirectPolicy {
        RedirectPolicy(mode: .custom(decide), limit: limit, allowsDowngrade: true, keepsHeaders: false)
    }

    /// Follows none: the redirect is the response.
    public static let refuse = RedirectPolicy(mode: .refuse, limit: 0, allowsDowngrade: false, keepsHeaders: false)

    /// The policy of the client's configuration; there the same as ``follow(limit:allowsDowngrade:)``.
    public static let inherited = RedirectPolicy(mode: .inherited, limit: 10, allowsDowngrade: false, keepsHeaders: false)

    /// This policy, or the client's for an inherited one.
    package func over(_ client: RedirectPolicy) -> RedirectPolicy {
        if case .inherited = mode { client } else { self }
    }
}

extension RedirectPolicy: CustomStringConvertible {
    /// The policy in a few words.
    public var description: String {
        switch mode {
        case .refuse: "follows no redirects"
        case .custom: "asks a closure about redirects, up to \(limit)"
        case .follow, .inherited:
            "follows up to \(limit) redirects" + (keepsHeaders ? " with the original headers inside the origin" : "")
        }
    }
}

private enum RedirectsKey: RequestContextKey { static var defaultValue: RedirectPolicy { .inherited } }

extension HTTPRequest {
    /// What to do about redirects; ``RedirectPolicy/inherited`` by default, ``RedirectPolicy/refuse`` to follow none. Read when an attempt
    /// begins: an interceptor that sets it has to stand at ``InterceptorStage/attempt`` or further out.
    public var redirects: RedirectPolicy {
        get { context[RedirectsKey.self] }
        set { context[RedirectsKey.self] = newValue }
    }
}
