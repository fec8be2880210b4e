/// A URL as text, cut into its parts (RFC 3986 appendix B) without being copied.
///
/// The pipeline keeps URLs as text: making a `URL` of every hop costs more than all interceptors together, and changes the user's bytes.
package struct URLText: Sendable {
    package var scheme: Substring?
    package var authority: Substring?
    package var path: Substring
    package var query: Substring?
    package var fragment: Substring?

    /// Cuts any text; each text has exactly one way to be cut.
    package init(_ text: String) {
        let text = text[...]
        let cuts = text.withBytes { URLCuts($0) }
        scheme = cuts.scheme.map { text[bytes: $0] }
        authority = cuts.authority.map { text[bytes: $0] }
        path = text[bytes: cuts.path]
        query = cuts.query.map { text[bytes: $0] }
        fragment = cuts.fragment.map { text[bytes: $0] }
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

    /// `http` or `https`, when it is one of these in whatever case; nil otherwise.
    package var webScheme: String? {
        guard let scheme, 4...5 ~= scheme.utf8.count else { return nil }
        let name = scheme.lowercased()
        return name == "http" || name == "https" ? name : nil
    }

    /// User and password, as they stand before the `@`.
    package var userInfo: Substring? {
        guard let authority else { return nil }
        let host = AuthorityCuts(authority).host
        return host > 0 ? authority[bytes: 0..<(host - 1)] : nil
    }

    /// Whether an `@` comes behind the authority: of user and password, where a `/`, `?` or `#` in them has ended it.
    package var hasLateUserInfo: Bool { [path, query, fragment].contains { $0?.utf8.contains(UInt8(ascii: "@")) == true } }

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
        let cuts = AuthorityCuts(authority)
        return authority[bytes: cuts.host..<cuts.end]
    }

    /// The host without the port; an IPv6 address keeps its brackets.
    package var host: Substring? {
        guard let authority else { return nil }
        let cuts = AuthorityCuts(authority)
        return authority[bytes: cuts.host..<(cuts.colon ?? cuts.end)]
    }

    /// The text after the host's colon, nil when there is none.
    package var portText: Substring? {
        guard let authority else { return nil }
        let cuts = AuthorityCuts(authority)
        return cuts.colon.map { authority[bytes: ($0 + 1)..<cuts.end] }
    }

    /// The text with an item added at the end of its query.
    package static func adding(query item: String, to text: String) -> String {
        var parts = URLText(text)
        parts.append(query: item[...])
        return parts.text
    }

    /// Adds items at the end of the query.
    mutating func append(query items: Substring?) {
        guard let items, !items.isEmpty else { return }
        query = query.map { $0.isEmpty ? items : "\($0)&\(items)" } ?? items
    }

    /// The items of the query. Cut by bytes, as servers do: a combining character behind a `&` hides none.
    package var items: [Substring] { query.map { Self.items(of: $0).filter { !$0.isEmpty } } ?? [] }

    private static func items(of query: Substring) -> [Substring] {
        query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// The text without some of its query items.
    package static func removing(from text: String, where isUnwanted: (Substring) -> Bool) -> String {
        var parts = URLText(text)
        guard let items = parts.query.map(items(of:)) else { return text }
        let kept = items.filter { !isUnwanted($0) }
        guard kept.count < items.count else { return text }
        parts.query = kept.isEmpty ? nil : Substring(kept.joined(separator: "&"))
        return parts.text
    }
}

/// Where the parts of a URL are, in bytes.
private struct URLCuts {
    var scheme: Range<Int>?
    var authority: Range<Int>?
    var path: Range<Int>
    var query: Range<Int>?
    var fragment: Range<Int>?

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        var start = 0
        var end = bytes.count
        let name = ASCIISet.token
        if let mark = bytes.firstIndex(where: { !name.contains($0) || $0 == UInt8(ascii: "#") }), mark > 0,
            bytes[mark] == UInt8(ascii: ":")
        {
            scheme = 0..<mark
            start = mark + 1
        }
        if let hash = bytes[start...].firstIndex(of: UInt8(ascii: "#")) {
            fragment = (hash + 1)..<end
            end = hash
        }
        if let mark = bytes[start..<end].firstIndex(of: UInt8(ascii: "?")) {
            query = (mark + 1)..<end
            end = mark
        }
        let slash = UInt8(ascii: "/")
        if end - start >= 2, bytes[start] == slash, bytes[start + 1] == slash {
            let first = start + 2
            start = bytes[first..<end].firstIndex(of: slash) ?? end
            authority = first..<start
        }
        path = start..<end
    }
}

/// Where the parts of an authority are (RFC 3986 §3.2), in bytes.
private struct AuthorityCuts {
    /// Where the host begins: behind the last `@`.
    let host: Int
    /// The colon before the port.
    let colon: Int?
    let end: Int

    init(_ authority: Substring) {
        let (host, colon, end) = authority.withBytes { bytes in
            var place = bytes.count
            var colon: Int?
            var isAddress = false
            while place > 0, bytes[place - 1] != UInt8(ascii: "@") {
                place -= 1
                // A colon inside the brackets of an IPv6 address doesn't start a port.
                if bytes[place] == UInt8(ascii: "]"), colon == nil { isAddress = true }
                if bytes[place] == UInt8(ascii: ":"), colon == nil, !isAddress { colon = place }
            }
            return (place, colon, bytes.count)
        }
        (self.host, self.colon, self.end) = (host, colon, end)
    }
}

extension String {
    /// Whether what is an http or https URL is an https one.
    package var hasSecureScheme: Bool { utf8.dropFirst(4).first.map { $0 | 0x20 == UInt8(ascii: "s") } ?? false }
}
