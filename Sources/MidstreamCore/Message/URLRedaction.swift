internal import Interception

extension URLText {
    /// The URL as it may be shown: without user and password, and without the values of items of query and fragment that are
    /// known to be secret.
    package static func redacted(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") }) else { return text }
        var parts = URLText(text)
        if let userInfo = parts.userInfo, !userInfo.isEmpty, let rest = parts.hostAndPort {
            parts.authority = "\(HTTPHeaders.withheld)@\(rest)"
        } else if parts.mayHaveMisplacedPassword, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let start = parts.authority == nil ? "" : "\(parts.scheme ?? "")://"
            return "\(start)\(HTTPHeaders.withheld)@\(redacted(String(text[text.utf8.index(after: at)...])))"
        }
        parts.query = parts.query.map(redacted(items:))
        parts.fragment = parts.fragment.map(redacted(items:))
        return parts.text
    }

    /// Whether a text with an `@` somewhere isn't the URL that was meant: `user:password@host` without a scheme, or a password
    /// with a `/`, `?` or `#`, which ends the authority, so that its beginning stands where the port should.
    private var mayHaveMisplacedPassword: Bool {
        if authority == nil { return scheme != nil }
        return portText?.utf8.contains { !(48...57 ~= $0) } == true
    }

    private static func redacted(items: Substring) -> Substring {
        guard items.utf8.contains(UInt8(ascii: "=")) else { return items }
        let secrets = secretItems.withLock { $0 }
        let bytes = Array(items.utf8)
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var start = 0
        while start <= bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
            if let mark = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")), secrets.contains(bytes[start..<mark]) {
                shown += bytes[start...mark]
                shown += HTTPHeaders.withheld.utf8
            } else {
                shown += bytes[start..<end]
            }
            if end < bytes.count { shown.append(UInt8(ascii: "&")) }
            start = end + 1
        }
        return Substring(String(decoding: shown, as: UTF8.self))
    }

    /// Withholds the values of another query item from now on, in all URLs that are shown.
    ///
    /// For the process and for good, since a URL is shown in many places that know nothing of the client which it belongs to.
    package static func treatAsSecret(item name: String) {
        secretItems.withLock { $0.insert(name) }
    }

    /// Whether the values of a query item are withheld.
    package static func isSecret(item name: String) -> Bool {
        secretItems.withLock { $0 }.contains(ArraySlice(name.percentEncoded.utf8))
    }

    private static let secretItems = Locked(SecretItems())
}

/// Names of query items whose values give access to something.
private struct SecretItems {
    /// In small letters.
    private var names: Set<String> = [
        "access_token", "refresh_token", "id_token", "token", "auth_token", "api_key", "apikey", "api-key", "key", "secret",
        "client_secret", "password", "passwd", "pwd", "sig", "signature", "x-amz-signature", "x-amz-credential",
        "x-amz-security-token", "x-goog-signature", "x-goog-credential", "code",
    ]
    /// In bytes, of the longest name as it is and with each byte percent-encoded.
    private var longest = 3 * "x-amz-security-token".utf8.count

    mutating func insert(_ name: String) {
        let name = name.lowercased()
        names.insert(name)
        longest = max(longest, 3 * name.utf8.count)
    }

    /// Whether the name of an item is among them, however it is spelled.
    func contains(_ item: ArraySlice<UInt8>) -> Bool {
        guard item.count <= longest else { return false }
        let isPlain = item.allSatisfy { $0 != UInt8(ascii: "%") && $0 < 128 && !(0x41...0x5A ~= $0) }
        let name = String(decoding: item, as: UTF8.self)
        return names.contains(isPlain ? name : name.percentDecoded.lowercased())
    }
}

extension String {
    /// The text with `%` and two digits decoded (RFC 3986 §2.1); as it is when they don't make text.
    fileprivate var percentDecoded: String {
        let bytes = Array(utf8)
        var decoded: [UInt8] = []
        var place = 0
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "%"), place + 2 < bytes.count, let high = bytes[place + 1].hexadecimalValue,
                let low = bytes[place + 2].hexadecimalValue
            {
                decoded.append(high << 4 | low)
                place += 3
            } else {
                decoded.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
