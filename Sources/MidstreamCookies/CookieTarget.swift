internal import MidstreamCore

/// What of a URL decides about its cookies (RFC 6265 §5.1).
struct CookieTarget {
    /// The host in ASCII and in small letters; an IPv6 address keeps its brackets.
    let host: String
    /// The path, at least `/`.
    let path: String
    /// Whether nobody on the way can listen: https, or a host that is this machine.
    let isSecure: Bool

    /// What of an absolute http or https URL decides; nil for any other text.
    init?(_ url: String) {
        let parts = URLText(url)
        guard let scheme = parts.webScheme, let host = parts.host.flatMap(URLText.asciiHost)?.lowercased(), !host.isEmpty,
            // No longer one can be asked, and each name above it is looked up.
            host.utf8.count <= URLText.maximumHost + 1
        else { return nil }
        self.host = host
        path = parts.path.isEmpty ? "/" : String(parts.path)
        isSecure = scheme == "https" || CookieDomain.isLoopback(host)
    }

    /// The path of a cookie that brings none (RFC 6265 §5.1.4).
    var defaultPath: String {
        guard path.utf8.first == UInt8(ascii: "/"), let last = path.utf8.lastIndex(of: UInt8(ascii: "/")), last > path.startIndex
        else {
            return "/"
        }
        return String(path[..<last])
    }

    /// Whether a cookie of that path is for this URL (RFC 6265 §5.1.4).
    func isWithin(path other: String) -> Bool { Self.path(path, isWithin: other) }

    /// Whether a path is the other, or lies below it.
    static func path(_ path: String, isWithin other: String) -> Bool {
        guard path.utf8.starts(with: other.utf8) else { return false }
        return path.utf8.count == other.utf8.count || other.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(other.utf8.count).first == UInt8(ascii: "/")
    }
}

/// Hosts as the domains of cookies.
enum CookieDomain {
    /// Whether a host is the domain, or a name below it (RFC 6265 §5.1.3). Both are in small letters.
    static func host(_ host: String, isWithin domain: String) -> Bool {
        if host == domain { return true }
        let rest = host.utf8.count - domain.utf8.count
        return rest > 0 && !domain.isEmpty && host.utf8.dropFirst(rest).elementsEqual(domain.utf8)
            && host.utf8.dropFirst(rest - 1).first == UInt8(ascii: ".") && !isAddress(host)
    }

    /// A host and the names above it, nearest first; an address has none above it.
    static func names(from host: String) -> [String] {
        var names = [host]
        guard !isAddress(host) else { return names }
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            if !rest.isEmpty { names.append(String(rest)) }
        }
        return names
    }

    /// Whether a host is an IP address in any of the ways in which one can be written; no name ends with a number.
    static func isAddress(_ host: String) -> Bool {
        if host.utf8.first == UInt8(ascii: "[") { return true }
        guard let last = host.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
        if last.allSatisfy({ 48...57 ~= $0 }) { return true }
        return last.starts(with: "0x".utf8) && last.dropFirst(2).allSatisfy { 48...57 ~= $0 || 97...102 ~= $0 }
    }

    /// Whether a host is this machine, by its name or by its address: `localhost` and names below it, 127.0.0.0/8 and `[::1]`.
    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "[::1]" || self.host(host, isWithin: "localhost")
            || (host.utf8.starts(with: "127.".utf8) && isAddress(host))
    }
}
