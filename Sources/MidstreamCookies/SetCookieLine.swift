internal import Foundation
internal import MidstreamCore

/// A `Set-Cookie` field taken apart (RFC 6265 §5.2).
struct SetCookieLine {
    let name: String
    let value: String
    /// In lower case, without a leading dot; nil: none, or an empty one.
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
        let bytes = Array(text.utf8)
        guard !bytes.contains(where: \.isControl) else { throw .controlCharacter }
        var end = bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.count
        guard let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "=")) else { throw .noName }
        let (name, value) = (bytes[..<mark].trimmed, bytes[(mark + 1)..<end].trimmed)
        guard !name.isEmpty else { throw .noName }
        guard name.count + value.count <= Cookie.maximumSize else { throw .tooLarge }
        (self.name, self.value) = (Self.text(name), Self.text(value))
        while end < bytes.count {
            let start = end + 1
            end = bytes[start...].firstIndex(of: UInt8(ascii: ";")) ?? bytes.count
            if start < end { add(attribute: bytes[start..<end]) }
        }
    }

    private mutating func add(attribute: ArraySlice<UInt8>) {
        let mark = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
        let value = attribute[mark...].dropFirst().trimmed
        guard value.count <= Self.maximumAttributeSize else { return }
        let name = attribute[..<mark].trimmed
        // By length first, so that unknown attributes cost next to nothing.
        switch name.count {
        case 4 where Self.isName(name, "path"): path = value.first == UInt8(ascii: "/") ? Self.text(value) : nil
        case 6 where Self.isName(name, "domain"):
            let bare = Self.text(value).lowercased().withoutLeadingDot
            domain = bare.isEmpty ? nil : bare
        case 6 where Self.isName(name, "secure"): isSecure = true
        case 7 where Self.isName(name, "expires"): expires = CookieDate.parse(bytes: value) ?? expires
        case 7 where Self.isName(name, "max-age"): maxAge = Self.seconds(value) ?? maxAge
        case 8 where Self.isName(name, "httponly"): isHTTPOnly = true
        default: break
        }
    }

    private static func isName(_ bytes: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
        name.withUTF8Buffer { zip(bytes, $0).allSatisfy { $0.asciiLowercased == $1 } }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// A number of seconds; one that is too large to be kept is as large as can be.
    private static func seconds(_ bytes: ArraySlice<UInt8>) -> Int? {
        let isNegative = bytes.first == UInt8(ascii: "-")
        let digits = isNegative ? bytes.dropFirst() : bytes
        guard !digits.isEmpty, digits.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return Int(text(bytes)) ?? (isNegative ? .min : .max)
    }

    /// The largest attribute that is looked at (RFC 6265bis §5.6).
    private static let maximumAttributeSize = 1024
}

extension SetCookieLine {
    /// The cookie that the line makes when it comes from there (RFC 6265 §5.3, RFC 6265bis §5.7).
    ///
    /// - Parameter ahead: By how many seconds `now` is ahead of the server's clock.
    func cookie(
        from target: CookieTarget, at now: Date, ahead: TimeInterval, isPublicSuffix: (String) -> Bool
    ) throws(CookieRefusal) -> Cookie {
        let isHostOnly = try isHostOnly(from: target, isPublicSuffix: isPublicSuffix)
        guard !isSecure || target.isSecure else { throw .insecure }
        let cookie = Cookie(
            name: name, value: value, domain: isHostOnly ? target.host : domain ?? target.host, isHostOnly: isHostOnly,
            path: path ?? target.defaultPath, expires: end(at: now, ahead: ahead), isSecure: isSecure, isHTTPOnly: isHTTPOnly)
        // A `__Host-` cookie needs an explicit path, even if the default would be right.
        guard cookie.keepsPrefixPromise, path != nil || !cookie.isHostPrefixed else { throw .prefix }
        return cookie
    }

    /// Whether the cookie is for its host alone: it has no domain, or one that is exactly a host without subdomains.
    private func isHostOnly(
        from target: CookieTarget, isPublicSuffix: (String) -> Bool
    ) throws(CookieRefusal) -> Bool {
        guard let domain else { return true }
        guard domain.utf8.allSatisfy({ $0 < 128 }), CookieDomain.host(target.host, isWithin: domain) else { throw .foreignDomain }
        if CookieDomain.isAddress(domain) { return true }
        // The root's dot at the end doesn't make a suffix less public.
        guard isPublicSuffix(domain.utf8.last == UInt8(ascii: ".") ? String(domain.dropLast()) : domain) else { return false }
        guard domain == target.host else { throw .publicSuffix }
        return true
    }

    /// When the cookie ends. `Max-Age` beats `Expires`, which is by the server's clock, and nothing lasts longer than 400 days.
    private func end(at now: Date, ahead: TimeInterval) -> Date? {
        let latest = now.addingTimeInterval(Self.longestLife)
        if let maxAge { return maxAge <= 0 ? .distantPast : min(latest, now.addingTimeInterval(TimeInterval(maxAge))) }
        return expires.map { min(latest, $0.addingTimeInterval(ahead)) }
    }

    /// 400 days.
    private static let longestLife: TimeInterval = 400 * 86_400
}

extension String {
    /// The name without the dot that old servers put before a domain (RFC 6265 §5.2.3).
    var withoutLeadingDot: String { utf8.first == UInt8(ascii: ".") ? String(Substring(utf8.dropFirst())) : self }
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
    case noRoom = "all others are Secure, and there is no room"
    case emptied = "the jar was emptied while it was on its way"
    case hidesSecure = "it came by http and would hide one that is Secure"
}
