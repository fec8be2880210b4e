public import Foundation
public import MidstreamCore

/// A cookie as a ``CookieJar`` keeps it (RFC 6265 §5.3).
///
/// Its value is a secret: no description, trace or error shows it. Encoders write it: keep what comes out as you keep passwords.
public struct Cookie: Sendable, Hashable {
    /// The name; case matters.
    public let name: String
    /// The value, as it goes on the wire.
    public let value: String
    /// The host that it belongs to, its labels in ASCII and small letters, without a leading dot.
    public let domain: String
    /// Whether it is for that host alone, and not for the hosts below it as well.
    public let isHostOnly: Bool
    /// The path at and below which it is sent.
    public let path: String
    /// When it ends; nil: with the session, which is as long as the jar lives.
    public let expires: Date?
    /// Whether it is sent by https only; hosts that are this machine count as safe too.
    public let isSecure: Bool
    /// Whether the server wants it kept from scripts. Has no effect here; kept for code that passes the cookie on.
    public let isHTTPOnly: Bool

    /// As it goes on the wire.
    var pair: String { "\(name)=\(value)" }

    /// Whether it has ended by the given time.
    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether it replaces the other in a jar, by name, domain and path.
    func replaces(_ other: Cookie) -> Bool {
        name == other.name && path == other.path && isHostOnly == other.isHostOnly && domain == other.domain
    }

    /// The largest size of name and value together (RFC 6265bis §5.6).
    static let maximumSize = 4096
}

extension Cookie {
    /// Makes a cookie for ``CookieJar/set(_:)``.
    ///
    /// - Parameters:
    ///   - name: Not empty.
    ///   - value: May be empty. Together with the name at most 4096 bytes.
    ///   - domain: The host, such as `example.com`.
    ///   - isHostOnly: Whether hosts below it don't get the cookie; true by default.
    ///   - path: Where it is sent; everywhere by default.
    ///   - expires: When it ends; by default with the session.
    ///   - isSecure: Whether it is sent by https only; false by default.
    ///   - isHTTPOnly: Whether it is to be kept from scripts; false by default.
    /// - Throws: ``HTTPError/Code/invalidRequest`` when the name has an `=`, when a part holds a `;` or a control character or
    ///   begins or ends with a space, when the domain is no host or the path doesn't begin with `/`, when the cookie is too
    ///   large, and when it isn't what the prefix of its name, `__Secure-` or `__Host-`, promises.
    public init(
        _ name: String, _ value: String, domain: String, isHostOnly: Bool = true, path: String = "/", expires: Date? = nil,
        isSecure: Bool = false, isHTTPOnly: Bool = false
    ) throws(HTTPError) {
        self.init(
            name: name, value: value, domain: domain.withoutLeadingDot.asciiDomain.lowercased(),
            isHostOnly: isHostOnly, path: path, expires: expires, isSecure: isSecure, isHTTPOnly: isHTTPOnly)
        guard let flaw else { return }
        throw HTTPError(.invalidRequest, "The cookie \(name.debugDescription) can't be used: \(flaw).", phase: .notSent)
    }

    /// The defect that makes it invalid, without its value; nil: none.
    private var flaw: String? {
        if name.isEmpty { return "it has no name" }
        if name.utf8.contains(UInt8(ascii: "=")) { return "its name has an “=”" }
        if !name.isCookieText { return "its name has a “;”, a control character or a space at an end" }
        if !value.isCookieText { return "its value has a “;”, a control character or a space at an end" }
        if name.utf8.count + value.utf8.count > Self.maximumSize { return "it is larger than \(Self.maximumSize) bytes" }
        if !domain.isCookieDomain { return "its domain is no host" }
        if path.utf8.first != UInt8(ascii: "/") || path.utf8.contains(where: \.isControl) { return "its path is none" }
        if !keepsPrefixPromise { return "its prefix promises something else" }
        return nil
    }

    /// Whether it is what the prefix of its name promises (RFC 6265bis §4.1.3), which is compared without case, since servers do so.
    var keepsPrefixPromise: Bool {
        if name.hasASCIIPrefix("__secure-") { return isSecure }
        if isHostPrefixed { return isSecure && isHostOnly && path == "/" }
        return true
    }

    /// Whether the name restricts the cookie to one host.
    var isHostPrefixed: Bool { name.hasASCIIPrefix("__host-") }
}

extension Cookie: Codable {
    /// Reads what an encoder has written of a cookie.
    ///
    /// - Throws: `DecodingError`, also when what is read can't be a cookie.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try fields.decode(String.self, forKey: .name), value: try fields.decode(String.self, forKey: .value),
            domain: try fields.decode(String.self, forKey: .domain).asciiDomain,
            isHostOnly: try fields.decode(Bool.self, forKey: .isHostOnly),
            path: try fields.decode(String.self, forKey: .path),
            expires: try fields.decodeIfPresent(Date.self, forKey: .expires),
            isSecure: try fields.decode(Bool.self, forKey: .isSecure),
            isHTTPOnly: try fields.decode(Bool.self, forKey: .isHTTPOnly))
        guard let flaw else { return }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "A cookie can't be used: \(flaw)."))
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The cookie as a server would set it, the value withheld.
    public var description: String {
        var text = "\(name)=\(String.withheld); Path=\(path)"
        text += isHostOnly ? "; for \(domain)" : "; Domain=\(domain)"
        if let expires { text += "; Expires=\(HTTPDate.text(expires))" }
        if isSecure { text += "; Secure" }
        if isHTTPOnly { text += "; HttpOnly" }
        return text
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["cookie": description]) }
}

extension String {
    /// Whether it can stand in a `Cookie` field as a name or a value and be read there as what it is.
    fileprivate var isCookieText: Bool {
        let edges = [utf8.first, utf8.last]
        return !edges.contains(32) && !edges.contains(9) && !utf8.contains { $0 == UInt8(ascii: ";") || $0.isControl }
    }

    /// The domain as the hosts of URLs have it; one that can't be a host stays as it is.
    fileprivate var asciiDomain: String { URLText.asciiHost(self[...]) ?? self }

    /// Whether it can be the host of a URL, as that goes on the wire. A colon stands inside the brackets of an IPv6 address only.
    fileprivate var isCookieDomain: Bool {
        let isBracketed = utf8.first == UInt8(ascii: "[") && utf8.last == UInt8(ascii: "]")
        return !isEmpty && utf8.first != UInt8(ascii: ".") && self == lowercased()
            && !utf8.contains { $0 <= 32 || $0 >= 127 || "/?#@\\".utf8.contains($0) || ($0 == UInt8(ascii: ":") && !isBracketed) }
    }
}

extension UInt8 {
    /// Whether it is a control character that may not stand in a cookie: any but the tab (RFC 6265bis §5.6).
    var isControl: Bool { self < 32 && self != 9 || self == 127 }
}
