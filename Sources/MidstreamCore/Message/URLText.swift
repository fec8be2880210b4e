/// A URL as text, cut into its parts (RFC 3986 appendix B) without being copied.
///
/// The pipeline keeps URLs as text: making a `URL` of every hop costs more than all interceptors together, and changes bytes
/// that the user gave.
package struct URLText: Sendable {
    package var scheme: Substring?
    package var authority: Substring?
    package var path: Substring
    package var query: Substring?
    package var fragment: Substring?

    /// Cuts any text; each text has exactly one way to be cut.
    package init(_ text: String) {
        let bytes = text.utf8
        var rest = text[...]
        if let end = bytes.firstIndex(where: { ":/?#".utf8.contains($0) }), bytes[end] == UInt8(ascii: ":"),
            end > text.startIndex,
            bytes[..<end].allSatisfy({ $0.isTokenCharacter })
        {
            scheme = text[..<end]
            rest = text[bytes.index(after: end)...]
        }
        if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[rest.utf8.index(after: hash)...]
            rest = rest[..<hash]
        }
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// Whether it names a scheme and an authority, and so needs no base.
    package var isAbsolute: Bool { scheme != nil && authority != nil }

    /// The parts put together again (RFC 3986 §5.3).
    package var text: String {
        var text = ""
        if let scheme { text += "\(scheme):" }
        if let authority { text += "//\(authority)" }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    /// User and password, as they stand before the `@`.
    package var userInfo: Substring? {
        guard let authority, let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        return authority[..<at]
    }

    /// The URL without user and password; the same text when it has none.
    package static func withoutUserInfo(_ url: String) -> String {
        guard url.utf8.contains(UInt8(ascii: "@")) else { return url }
        var parts = URLText(url)
        guard parts.userInfo != nil else { return url }
        parts.authority = parts.hostAndPort
        return parts.text
    }

    /// The host and the port, as they stand after the `@`.
    package var hostAndPort: Substring? {
        guard let authority else { return nil }
        guard let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return authority }
        return authority[authority.utf8.index(after: at)...]
    }

    /// The host without the port; an IPv6 address keeps its brackets.
    package var host: Substring? {
        guard let hostAndPort else { return nil }
        return hostAndPort[..<(portMark ?? hostAndPort.endIndex)]
    }

    /// The text after the host's colon, nil when there is none.
    package var portText: Substring? {
        guard let hostAndPort, let portMark else { return nil }
        return hostAndPort[hostAndPort.utf8.index(after: portMark)...]
    }

    private var portMark: Substring.Index? {
        guard let hostAndPort, let colon = hostAndPort.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        // A colon inside the brackets of an IPv6 address doesn't start a port.
        if let bracket = hostAndPort.utf8.lastIndex(of: UInt8(ascii: "]")), bracket > colon { return nil }
        return colon
    }

    /// The text with an item added at the end of its query.
    package static func adding(query item: some StringProtocol, to text: String) -> String {
        var parts = URLText(text)
        guard !item.isEmpty else { return text }
        if let query = parts.query, !query.isEmpty {
            parts.query = "\(query)&\(item)"
        } else {
            parts.query = Substring(item)
        }
        return parts.text
    }
}

/// Scheme, host and port of a URL (RFC 9110 §4.3.1): what credentials are given for.
public struct HTTPOrigin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host in ASCII and in small letters; an IPv6 address keeps its brackets.
    public let host: String
    /// The port; the scheme's own when the URL names none.
    public let port: Int

    /// The origin of an absolute http or https URL; nil for any other text.
    public init?(_ url: String) {
        let parts = URLText(url)
        guard let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = parts.host.flatMap(URLText.asciiHost)?.lowercased(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host
        port = parts.portText.flatMap { Int($0) } ?? (scheme == "https" ? 443 : 80)
    }

    /// The origin as the start of a URL, without the scheme's own port.
    public var description: String {
        port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}
