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
            guard let base else { throw invalid(text, "is relative, and there is no base URL for it") }
            // A reference such as //host/path would replace the base's host, which isn't expected of a path.
            guard parts.authority == nil else { throw invalid(text, "has a host but no scheme") }
            let root = URLText(base)
            guard root.isAbsolute else { throw invalid(base, "isn't absolute and so can't be a base URL") }
            let relative = parts.scheme.map { "\($0):\(parts.path)" } ?? String(parts.path)
            parts.scheme = root.scheme
            parts.authority = root.authority
            parts.path = join(root.path, relative[...])
            parts.append(query: root.query)
        }
        parts.append(query: query?[...])
        let whole = parts.text
        do throws(Flaw) {
            return try checked(parts, of: whole).text
        } catch {
            throw invalid(whole, error)
        }
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
                } else if target.path.utf8.first != slash {
                    let folder = base.path.utf8.lastIndex(of: slash).map { base.path[..<$0] } ?? ""
                    target.path = "\(folder)/\(target.path)"
                }
            }
        }
        target.path = removingDotSegments(target.path)
        target.fragment = target.fragment ?? base.fragment
        return (try? checked(target, of: location))?.text
    }

    /// Whether a text is an absolute http or https URL in which every character may stand as it is.
    package static func isRequestable(_ text: String) -> Bool {
        if PlainURL.isAbsolute(text) { return true }
        return text[...].withBytes { $0.allSatisfy { 33...126 ~= $0 } } && (try? checkedHost(of: URLText(text), text)) != nil
    }

    // Slashes and dots are looked for among the bytes: with a combining character behind it, a slash is part of another `Character`.
    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    private static func join(_ base: Substring, _ relative: Substring) -> Substring {
        if relative.isEmpty { return base }
        let base = base.utf8.last == slash ? Substring(base.utf8.dropLast()) : base
        let relative = relative.utf8.first == slash ? Substring(relative.utf8.dropFirst()) : relative
        return "\(base)/\(relative)"
    }

    /// The path without `.` and `..` (RFC 3986 §5.2.4). Anything before the first slash is dropped.
    package static func removingDotSegments(_ path: Substring) -> Substring {
        path.withBytes { bytes in
            guard bytes.contains(dot), let first = bytes.firstIndex(of: slash) else { return path }
            return Substring(
                String(unsafeUninitializedCapacity: bytes.count) { kept in
                    var end = 0
                    var place = first
                    while place < bytes.count {
                        let next = bytes[(place + 1)...].firstIndex(of: slash) ?? bytes.count
                        let dots = bytes[(place + 1)..<next]
                        if dots.count <= 2, dots.allSatisfy({ $0 == dot }), !dots.isEmpty {
                            if dots.count == 2 { end = kept[..<end].lastIndex(of: slash) ?? 0 }
                            if next == bytes.count {
                                kept[end] = slash
                                end += 1
                            }
                        } else {
                            for byte in bytes[place..<next] {
                                kept[end] = byte
                                end += 1
                            }
                        }
                        place = next
                    }
                    return end
                })
        }
    }

    /// Why a text is no URL that can be requested.
    private enum Flaw: String, Error {
        case controlCharacter = "holds a control character"
        case scheme = "is neither http nor https"
        case noHost = "has no host"
        case host = "has a host that can't be one"
        case port = "has a port that can't be one"
    }

    /// The parts as they may go on the wire: percent-encoded where they have to be, the host in ASCII.
    private static func checked(_ parts: URLText, of text: String) throws(Flaw) -> URLText {
        let host = try checkedHost(of: parts, text)
        var parts = parts
        parts.path = encoded(parts.path)
        parts.query = parts.query.map(encoded)
        parts.fragment = parts.fragment.map(encoded)
        if let given = parts.host, host != given {
            let userInfo = parts.userInfo.map { "\($0)@" } ?? ""
            parts.authority = "\(userInfo)\(host)\(parts.portText.map { ":\($0)" } ?? "")"
        }
        return parts
    }

    /// The host in ASCII, when all that can't be percent-encoded is in order.
    private static func checkedHost(of parts: URLText, _ text: String) throws(Flaw) -> String {
        guard !text[...].withBytes({ $0.contains { $0 < 32 || $0 == 127 } }) else { throw .controlCharacter }
        guard parts.webScheme != nil else { throw .scheme }
        guard let host = parts.host, !host.isEmpty else { throw .noHost }
        guard let ascii = asciiHost(host), isHost(ascii) else { throw .host }
        if let port = parts.portText, !port.isEmpty {
            guard port.utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int(port), 1...65535 ~= number else { throw .port }
        }
        return ascii
    }

    private static func isHost(_ host: String) -> Bool {
        let bytes = host.utf8
        if bytes.first == UInt8(ascii: "[") {
            return bytes.last == UInt8(ascii: "]") && bytes.contains(UInt8(ascii: ":"))
                && bytes.dropFirst().dropLast().allSatisfy {
                    $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") || $0.isUnreserved
                }
        }
        return bytes.count - (bytes.last == dot ? 1 : 0) <= maximumHost && bytes.allSatisfy { ASCIISet.host.contains($0) }
    }

    /// Without query and fragment, in which own names of secrets aren't found where there is no whole URL.
    private static func invalid(_ text: String, _ problem: String) -> HTTPError {
        var parts = URLText(redacted(text))
        (parts.query, parts.fragment) = (nil, nil)
        return HTTPError(.invalidRequest, "The URL “\(parts.text)” \(problem).", phase: .notSent)
    }

    private static func invalid(_ text: String, _ flaw: Flaw) -> HTTPError {
        // A control character has no business in a message, which may end up in a log.
        guard flaw == .controlCharacter else { return invalid(text, flaw.rawValue) }
        return HTTPError(.invalidRequest, "The URL \(flaw.rawValue).", phase: .notSent)
    }

    /// A part other than the host with everything percent-encoded that may not stand in a URL (RFC 3986 §2).
    private static func encoded(_ text: Substring) -> Substring {
        let encoded = text.withBytes { $0.percentEncoded(exceptFor: .url, escapes: true) }
        return encoded.map { $0[...] } ?? text
    }
}
