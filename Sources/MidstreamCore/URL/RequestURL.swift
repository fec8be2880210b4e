public import Foundation

/// The URL of a request as it is written at the call: a text that stays as it is, with values that become part of it safely.
///
/// ```swift
/// client.get("users/\(name)/posts?tag=\(tag)")
/// ```
///
/// A literal is kept as it is. What is interpolated is percent-encoded but for letters, digits and `-._~` (RFC 3986 §2.3), so that it
/// stays within its segment of the path or its item of the query, whatever it holds: a slash, a question mark, a number sign. In the
/// place of a host, or of user and password, only what could end that is encoded. A path segment that would come out as `.` or `..`
/// can't be encoded so that servers don't take it for a step through the path; sending such a request fails with
/// ``HTTPError/Code/invalidRequest``.
///
/// A value that has several segments, such as the key of an object in a store, goes in with `path:`, which keeps its slashes:
///
/// ```swift
/// client.put("bucket/\(path: key)")
/// ```
///
/// A `URL` and a `RequestURL` are interpolated as they are, since they are encoded already, and so is a text with `raw:`:
///
/// ```swift
/// client.get("\(raw: server)/users/\(name)")
/// ```
///
/// A `String` that isn't written at the call is taken for a URL's text as it is.
public struct RequestURL: Sendable, Hashable {
    /// The URL as text, absolute or relative to the client's base URL.
    public let text: String
    /// The common form of many URLs, such as `users/{}/posts` or a URI template, without secrets; nil for a text without values, and for a
    /// URL that is interpolated alone. See ``HTTPRequest/route``.
    public let route: String?
    /// Why nothing can be sent to it.
    package let problem: String?

    /// Takes a URL's text as it is.
    public init(_ text: String) { self.init(text, route: nil) }

    /// Makes a URL of which more is known than its text.
    package init(_ text: String, route: String?, problem: String? = nil) {
        self.text = text
        self.route = route.map(URLText.redacted)
        self.problem = problem
    }
}

extension RequestURL: ExpressibleByStringInterpolation {
    /// Takes a literal as it is.
    public init(stringLiteral value: String) { self.init(value, route: nil) }

    /// Puts a text together of literals and encoded values.
    public init(stringInterpolation: Interpolation) {
        self.init(stringInterpolation.text, route: stringInterpolation.commonForm, problem: stringInterpolation.problem)
    }

    /// Collects the literals and values of an interpolation.
    public struct Interpolation: StringInterpolationProtocol {
        fileprivate private(set) var text = ""
        private var route = ""
        /// How many bytes of the text are of what it begins with as it is, of which no route is known.
        private var baseEnd = 0
        private var givenProblem: String?
        /// Where values are among the bytes of the text: the ends of those that are within one segment, all of those that have several.
        private var places: [Range<Int>] = []

        /// Begins an interpolation.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
            route.reserveCapacity(literalCapacity + 2 * interpolationCount)
        }

        /// Adds a part of the literal as it is.
        public mutating func appendLiteral(_ literal: String) {
            text += literal
            route += literal
        }

        /// Adds a value, percent-encoded.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            // The host is checked when the request is sent; here a value only mustn't end it.
            let value = value.description
            let isHost = isInAuthority
            text += value.percentEncoded(exceptFor: isHost ? .withinHost : .unreserved, others: isHost)
            places.append(text.utf8.count..<text.utf8.count)
            route += "{}"
        }

        /// Adds a path of any number of segments, each of them percent-encoded, with the slashes between them. A path in the place of a host has
        /// to begin with a slash; otherwise sending fails with ``HTTPError/Code/invalidRequest``.
        public mutating func appendInterpolation(path: some StringProtocol) {
            if isInAuthority, let first = path.utf8.first, first != UInt8(ascii: "/") {
                givenProblem = "A path stands in the place of the URL's host."
            }
            let start = text.utf8.count
            route += placeholder(for: String(path))
            text += String(path).percentEncoded(exceptFor: .withinPath)
            places.append(start..<text.utf8.count)
        }

        /// Adds a value, percent-encoded but for a `URL` or a ``RequestURL``, or a text, percent-encoded, in its place when it is nil.
        public mutating func appendInterpolation(
            _ value: (some CustomStringConvertible)?, default text: @autoclosure () -> String
        ) {
            switch value {
            case let url as URL: appendInterpolation(url)
            case let url as RequestURL: appendInterpolation(url)
            default: appendInterpolation(value?.description ?? text())
            }
        }

        /// Adds the description of any value, percent-encoded.
        @_disfavoredOverload
        public mutating func appendInterpolation<Value>(_ value: Value) { appendInterpolation(String(describing: value)) }

        // Without these two, such a text would be taken for a `String`, and its values be sent as they are.

        /// Adds what the optional holds. Sending a request whose URL has nil in it fails with ``HTTPError/Code/invalidRequest``.
        @_disfavoredOverload
        @available(*, deprecated, message: "Unwrap it: a request with nil in its URL can't be sent.")
        public mutating func appendInterpolation<Value>(_ value: Value?) {
            if value == nil { givenProblem = "A value of the URL is nil." }
            appendInterpolation(value.map { String(describing: $0) } ?? "")
        }

        /// Adds a URL as it is.
        public mutating func appendInterpolation(_ url: URL) { appendInterpolation(raw: url.absoluteString) }

        /// Adds what has been written as a URL as it is, with what its ``RequestURL/route`` and its values mean.
        public mutating func appendInterpolation(_ url: RequestURL) {
            append(url.text, route: url.route)
            givenProblem = givenProblem ?? url.problem
        }

        /// Adds a text as it is: a base URL, a path, a query that is encoded already. Whoever chooses it chooses where the request goes.
        public mutating func appendInterpolation(raw text: some StringProtocol) { append(String(text), route: nil) }

        private mutating func append(_ url: String, route: String?) {
            if text.isEmpty, route == nil { baseEnd = url.utf8.count }
            self.route += route ?? (text.isEmpty ? Self.route(ofBase: url) : placeholder(for: url))
            text += url
        }

        /// A path that follows a host doesn't become part of that.
        private func placeholder(for part: String) -> String {
            isInAuthority && part.utf8.first == UInt8(ascii: "/") ? "/{}" : "{}"
        }

        /// The origin, which many URLs have in common, and what stands for the rest, which may be that of one alone.
        private static func route(ofBase url: String) -> String {
            let parts = URLText(url)
            guard let scheme = parts.scheme, let authority = parts.authority else { return "{}" }
            let hasPath = parts.path.utf8.count > 1
            let slash = parts.path.utf8.last == UInt8(ascii: "/") ? "/" : ""
            return "\(scheme)://\(authority)\(hasPath ? "/{}" : "")\(slash)\(parts.query == nil ? "" : "?{}")"
        }

        /// The route; nil where nothing follows what the text begins with: a URL that says nothing of others.
        fileprivate var commonForm: String? { baseEnd == text.utf8.count ? nil : route }

        /// Whether the next value is part of a host or a port.
        private var isInAuthority: Bool {
            let parts = URLText(text)
            return parts.authority != nil && parts.path.isEmpty && parts.query == nil && parts.fragment == nil
        }

        /// Why the text can't be sent, if a value has made a segment of the path one that leads elsewhere.
        fileprivate var problem: String? {
            givenProblem
                ?? URLText.step(madeBy: places, in: text).map {
                    "A value makes “\($0)” of a segment of the URL, which isn't a name but a step in the path."
                }
        }
    }
}

extension URLText {
    /// A segment of the path that is `.` or `..`, in any spelling, and has to do with a value; nil: there is none.
    ///
    /// - Parameter values: Where values stand among the bytes of the text; an empty range belongs to the segment around it.
    package static func step(madeBy values: [Range<Int>], in text: String) -> String? {
        let bytes = Array(text.utf8)
        let pathEnd = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
        let slash = UInt8(ascii: "/")
        for value in values where value.lowerBound < pathEnd || value == pathEnd..<pathEnd {
            var start = bytes[..<value.lowerBound].lastIndex(of: slash).map { $0 + 1 } ?? 0
            while start <= min(value.upperBound, pathEnd) {
                let end = bytes[start..<pathEnd].firstIndex(of: slash) ?? pathEnd
                // Nothing longer can be one.
                if end - start <= 6 {
                    let segment = String(decoding: bytes[start..<end], as: UTF8.self)
                    let steps = [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"]
                    if steps.contains(segment.lowercased()) { return segment }
                }
                start = end + 1
            }
        }
        return nil
    }
}

/// The URL of a request: a text as it is, a `URL`, or a ``RequestURL``.
public protocol RequestURLConvertible {
    /// The URL as it is meant.
    var requestURL: RequestURL { get }
}

extension RequestURL: RequestURLConvertible {
    /// Itself.
    public var requestURL: RequestURL { self }
}

extension String: RequestURLConvertible {
    /// The text as it is.
    public var requestURL: RequestURL { RequestURL(self) }
}

extension Substring: RequestURLConvertible {
    /// The text as it is.
    public var requestURL: RequestURL { RequestURL(String(self)) }
}

extension URL: RequestURLConvertible {
    /// The URL's own text, resolved against the base that it may have.
    public var requestURL: RequestURL { RequestURL(absoluteString) }
}

extension RequestURL: CustomStringConvertible, CustomReflectable {
    /// The text without its credentials, control characters escaped.
    public var description: String { URLText.redacted(text).escapingControls }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}
