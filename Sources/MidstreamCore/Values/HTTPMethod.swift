/// A request method (RFC 9110 §9), such as `GET`. Case-sensitive; any token may be used.
public struct HTTPMethod: RawRepresentable, ExpressibleByStringLiteral, Hashable, Sendable, CustomStringConvertible {
    /// The method's name as it goes on the wire.
    public let rawValue: String

    /// Takes any name; one that isn't a token (RFC 9110 §5.6.2) makes sending fail with ``HTTPError/Code/invalidRequest``.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Takes any name, as ``init(rawValue:)`` does.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// `GET` (RFC 9110 §9.3.1).
    public static let get: HTTPMethod = "GET"
    /// `HEAD` (RFC 9110 §9.3.2).
    public static let head: HTTPMethod = "HEAD"
    /// `POST` (RFC 9110 §9.3.3).
    public static let post: HTTPMethod = "POST"
    /// `PUT` (RFC 9110 §9.3.4).
    public static let put: HTTPMethod = "PUT"
    /// `DELETE` (RFC 9110 §9.3.5).
    public static let delete: HTTPMethod = "DELETE"
    /// `OPTIONS` (RFC 9110 §9.3.7).
    public static let options: HTTPMethod = "OPTIONS"
    /// `TRACE` (RFC 9110 §9.3.8), which can't have a body.
    public static let trace: HTTPMethod = "TRACE"
    /// `PATCH` (RFC 5789).
    public static let patch: HTTPMethod = "PATCH"

    /// Whether the method only reads (RFC 9110 §9.2.1), as `QUERY`, `PROPFIND`, `REPORT` and `SEARCH` do, too, which are registered so.
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, "QUERY", "PROPFIND", "REPORT", "SEARCH": true
        default: false
        }
    }

    /// Whether sending it twice has the effect of sending it once (RFC 9110 §9.2.2), so that it may be retried freely.
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// The name.
    public var description: String { rawValue }
}
