internal import Foundation
internal import MidstreamCore

/// A `Set-Cookie` field taken apart (RFC 6265 §5.2).
struct SetCookieLine {
    let name: String
    let value: String
    /// In small letters, without a leading dot; nil when there is none that says anything.
    private(set) var domain: String?
    /// nil when there is none, or one that is no path.
    private(set) var path: String?
    private(set) var expires: Date?
    /// Seconds; negative ones too.
    private(set) var maxAge: Int?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false

    /// Takes a field's value apart. Attributes that can't be understood are passed over, and of two the later one counts.
    init(_ text: String) throws(CookieRefusal) {
        guard !text.utf8.contains(where: \.isControl) else { throw .controlCharacter }
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let pair = parts.first, let mark = pair.firstIndex(of: UInt8(ascii: "=")) else { throw .noName }
        name = Self.text(pair[..<mark])
        value = Self.text(pair[pair.index(after: mark)...])
        guard !name.isEmpty else { throw .noName }
        guard name.utf8.count + value.utf8.count <= Cookie.maximumSize else { throw .tooLarge }
        for part in parts.dropFirst() { add(attribute: part) }
    }

    private mutating func add(attribute: Substring.UTF8View) {
        let mark = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
        let value = Self.text(attribute[mark...].dropFirst())
        guard value.utf8.count <= Self.maximumAttributeSize else { return }
        switch Self.text(attribute[..<mark]).lowercased() {
        case "domain":
            let name = value.lowercased()
            let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
            domain = bare.isEmpty ? nil : bare
        case "path": path = value.hasPrefix("/") ? value : nil
        case "expires": expires = CookieDate.parse(value) ?? expires
        case "max-age": maxAge = Self.seconds(value) ?? maxAge
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    private static func text(_ bytes: Substring.UTF8View) -> String { String(Substring(bytes.trimmed)) }

    /// A number of seconds; one that is too large to be kept is as large as can be.
    private static func seconds(_ text: String) -> Int? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return Int(text) ?? (text.hasPrefix("-") ? .min : .max)
    }

    /// The largest attribute that is looked at (RFC 6265bis §5.6).
    private static let maximumAttributeSize = 1024
}

extension SetCookieLine {
    /// The cookie that the line makes when it comes from there (RFC 6265 §5.3, RFC 6265bis §5.7).
    func cookie(
        from target: CookieTarget, at now: Date, isPublicSuffix: (String) -> Bool
    ) throws(CookieRefusal) -> Cookie {
        let isHostOnly = try isHostOnly(from: target, isPublicSuffix: isPublicSuffix)
        guard !isSecure || target.isSecure else { throw .insecure }
        let cookie = Cookie(
            trusted: name, value, domain: isHostOnly ? target.host : domain ?? target.host, isHostOnly: isHostOnly,
            path: path ?? target.defaultPath, expires: end(at: now), isSecure: isSecure, isHTTPOnly: isHTTPOnly)
        // A `__Host-` cookie has to say its path, even if it would get the right one.
        guard cookie.keepsPrefixPromise, path != nil || !cookie.isHostPrefixed else { throw .prefix }
        return cookie
    }

    /// Whether the cookie is for its host alone: it says nothing else, or names exactly a host that can have none below it.
    private func isHostOnly(
        from target: CookieTarget, isPublicSuffix: (String) -> Bool
    ) throws(CookieRefusal) -> Bool {
        guard let domain else { return true }
        guard domain.utf8.allSatisfy({ $0 < 128 }), CookieDomain.host(target.host, isWithin: domain) else { throw .foreignDomain }
        if CookieDomain.isAddress(domain) { return true }
        // The root's dot at the end doesn't make a suffix less public.
        guard isPublicSuffix(domain.hasSuffix(".") ? String(domain.dropLast()) : domain) else { return false }
        guard domain == target.host else { throw .publicSuffix }
        return true
    }

    /// When the cookie ends. `Max-Age` beats `Expires`, and nothing lasts longer than 400 days.
    private func end(at now: Date) -> Date? {
        let latest = now.addingTimeInterval(Self.longestLife)
        if let maxAge { return maxAge <= 0 ? .distantPast : min(latest, now.addingTimeInterval(TimeInterval(maxAge))) }
        return expires.map { min(latest, $0) }
    }

    /// 400 days.
    private static let longestLife: TimeInterval = 400 * 86_400
}

/// Why a cookie from a server isn't kept, in words that repeat nothing of it.
enum CookieRefusal: String, Error {
    case noName = "it has no name"
    case controlCharacter = "it has a control character"
    case tooLarge = "it is larger than 4096 bytes"
    case foreignDomain = "its Domain isn't its host's"
    case publicSuffix = "its Domain is a public suffix"
    case insecure = "it is Secure, and its host was asked by http"
    case prefix = "it isn't what the prefix of its name promises"
    case tooMany = "there are more than 150 in one response"
    case hidesSecure = "it came by http and would hide one that is Secure"
}
