internal import MidstreamPlatform

/// Scheme, host and port of a URL (RFC 9110 §4.3.1), for which credentials are given.
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
        guard let scheme = parts.webScheme, let host = parts.host.flatMap(URLText.asciiHost)?.lowercased(), !host.isEmpty else {
            return nil
        }
        self.scheme = scheme
        self.host = host
        port = parts.portText.flatMap { Int($0) } ?? (scheme == "https" ? 443 : 80)
    }

    /// Whether another origin is what this one becomes where its host wants https in place of http (RFC 6797 §8.3).
    func isSecured(as other: HTTPOrigin) -> Bool {
        scheme == "http" && other.scheme == "https" && other.host == host && other.port == (port == 80 ? 443 : port)
    }

    /// The origin as the start of a URL, without the scheme's own port.
    public var description: String {
        port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}

/// An origin that recognises most of its URLs by a comparison of bytes.
package final class OriginMatch: Sendable {
    private let origin: HTTPOrigin
    private let bytes: [UInt8]

    /// The origin of a URL; nil when it is no http or https URL.
    package init?(_ url: String) {
        guard let origin = HTTPOrigin(url) else { return nil }
        self.origin = origin
        bytes = Array(origin.description.utf8)
    }

    /// Whether an absolute URL is of this origin.
    package func matches(_ url: String) -> Bool {
        bytes.withUnsafeBufferPointer { url.isCertainly(ofOrigin: $0) } || HTTPOrigin(url) == origin
    }

    /// Whether an absolute URL is of this origin, or by https in place of its http.
    package func matchesOrSecures(_ url: String) -> Bool {
        matches(url) || origin.scheme == "http" && HTTPOrigin(url).map { origin.isSecured(as: $0) } == true
    }
}

extension String {
    /// Whether the text is an absolute URL of the origin with these bytes; false when only parsing could tell.
    func isCertainly(ofOrigin origin: UnsafeBufferPointer<UInt8>) -> Bool {
        utf8.withContiguousStorageIfAvailable { url in
            guard let prefix = origin.baseAddress, let start = url.baseAddress, url.count >= origin.count,
                memcmp(start, prefix, origin.count) == 0
            else { return false }
            // Only these end the host for certain: an apparent port may be part of a user's name before the real host.
            return url.count == origin.count || url[origin.count] == UInt8(ascii: "/") || url[origin.count] == UInt8(ascii: "?")
        } ?? false
    }
}
