extension URLText {
    /// The absolute URL that a request's text stands for.
    ///
    /// - Parameters:
    ///   - text: Absolute, or a path that is appended to the base's (`https://h/v2` and `/users` give `https://h/v2/users`).
    ///   - base: The client's base URL.
    ///   - query: Items that are added behind the text's own and the base's.
    /// - Throws: ``HTTPError/Code/invalidRequest`` when there is no such URL, it isn't http or https, or it holds characters
    ///   that could end a line of the request.
    package static func resolve(_ text: String, base: String?, query: String?) throws -> String {
        if query == nil {
            if PlainURL.isAbsolute(text) { return text }
            if let base, let joined = PlainURL.joined(text, to: base) { return joined }
        }
        var parts = URLText(text)
        if !parts.isAbsolute {
            guard let base else { throw invalid(text, "is relative, and the client has no base URL") }
            // A reference such as //host/path would leave the base's host behind, which nobody expects of a path.
            guard parts.authority == nil else { throw invalid(text, "has a host but no scheme") }
            let root = URLText(base)
            guard root.isAbsolute else { throw invalid(base, "isn't absolute and so can't be a base URL") }
            let relative = parts.scheme.map { "\($0):\(parts.path)" } ?? String(parts.path)
            parts.scheme = root.scheme
            parts.authority = root.authority
            parts.path = join(root.path, relative[...])
            parts.query = joinQueries(parts.query, root.query)
        }
        parts.query = joinQueries(parts.query, query?[...])
        try check(parts, of: parts.text)
        return encoded(parts).text
    }

    /// The URL that a `Location` names, seen from the URL that answered (RFC 3986 §5.2, RFC 9110 §10.2.2); nil when it is none
    /// that can be requested. A fragment is inherited.
    package static func resolve(location: String, from current: String) -> String? {
        let base = URLText(current)
        var target = URLText(String(location.utf8.trimmed) ?? location)
        if target.scheme == nil {
            target.scheme = base.scheme
            if target.authority == nil {
                target.authority = base.hostAndPort
                if target.path.isEmpty {
                    target.path = base.path
                    target.query = target.query ?? base.query
                } else if !target.path.hasPrefix("/") {
                    let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? "/"
                    target.path = "\(folder)\(target.path)"
                }
            }
        }
        target.path = removingDotSegments(target.path)
        target.fragment = target.fragment ?? base.fragment
        guard (try? check(target, of: location)) != nil else { return nil }
        return encoded(target).text
    }

    /// Whether a text is an absolute http or https URL in which every character may stand as it is.
    package static func isRequestable(_ text: String) -> Bool {
        if PlainURL.isAbsolute(text) { return true }
        return text.utf8.allSatisfy { $0 > 32 && $0 != 127 } && (try? check(URLText(text), of: text)) != nil
    }

    private static func join(_ base: Substring, _ relative: Substring) -> Substring {
        if relative.isEmpty { return base }
        let base = base.hasSuffix("/") ? base.dropLast() : base
        let relative = relative.hasPrefix("/") ? relative.dropFirst() : relative
        return "\(base)/\(relative)"
    }

    private static func joinQueries(_ first: Substring?, _ second: Substring?) -> Substring? {
        guard let second, !second.isEmpty else { return first }
        guard let first, !first.isEmpty else { return second }
        return "\(first)&\(second)"
    }

    private static func removingDotSegments(_ path: Substring) -> Substring {
        guard path.contains("./") || path.hasSuffix(".") else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (place, segment) in segments.enumerated() {
            let isLast = place == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return Substring("/" + kept.joined(separator: "/"))
    }

    private static func check(_ parts: URLText, of text: String) throws {
        for byte in text.utf8 where byte < 32 || byte == 127 {
            throw HTTPError(.invalidRequest, "The URL holds a control character.", progress: .notSent)
        }
        guard let scheme = parts.scheme, scheme.lowercased() == "http" || scheme.lowercased() == "https" else {
            throw invalid(text, "is neither http nor https")
        }
        guard let host = parts.host, !host.isEmpty else { throw invalid(text, "has no host") }
        guard isHost(host) else { throw invalid(text, "has a host that can't be one") }
        if let port = parts.portText, !port.isEmpty {
            guard port.utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int(port), 1...65535 ~= number else {
                throw invalid(text, "has a port that can't be one")
            }
        }
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("[") {
            return host.hasSuffix("]") && host.utf8.contains(UInt8(ascii: ":"))
                && host.dropFirst().dropLast().utf8.allSatisfy {
                    $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") || $0.isUnreserved
                }
        }
        return host.utf8.allSatisfy { $0 >= 128 || $0.isUnreserved || "!$&'()*+,;=%".utf8.contains($0) }
    }

    private static func invalid(_ text: String, _ problem: String) -> HTTPError {
        HTTPError(.invalidRequest, "The URL “\(redacted(text))” \(problem).", progress: .notSent)
    }

    /// The parts with everything percent-encoded that may not stand in a URL (RFC 3986 §2), the host excepted.
    private static func encoded(_ parts: URLText) -> URLText {
        var parts = parts
        parts.path = encoded(parts.path)
        parts.query = parts.query.map(encoded)
        parts.fragment = parts.fragment.map(encoded)
        return parts
    }

    private static func encoded(_ text: Substring) -> Substring {
        let bytes = Array(text.utf8)
        let isHex = { (place: Int) in place < bytes.count && (bytes[place].asciiLowercased | 0x20).isHexDigit }
        let isPlain = { (place: Int) in
            bytes[place] == UInt8(ascii: "%") ? isHex(place + 1) && isHex(place + 2) : isLegal(bytes[place])
        }
        guard !bytes.indices.allSatisfy(isPlain) else { return text }
        var encoded = ""
        for place in bytes.indices { encoded.appendPercentEncoding(bytes[place], unless: isPlain(place)) }
        return encoded[...]
    }

    private static func isLegal(_ byte: UInt8) -> Bool {
        byte.isUnreserved || "!$&'()*+,;=:@/?%#[]".utf8.contains(byte)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
    }
}
