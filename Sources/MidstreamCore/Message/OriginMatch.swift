/// An origin that tells most URLs of its own by one comparison, without taking them apart.
package final class OriginMatch: Sendable {
    private let origin: HTTPOrigin
    private let prefix: String

    /// The origin of a URL; nil when it is no http or https URL.
    package init?(_ url: String) {
        guard let origin = HTTPOrigin(url) else { return nil }
        self.origin = origin
        prefix = origin.description
    }

    /// Whether an absolute URL is of this origin.
    package func matches(_ url: String) -> Bool {
        let bytes = url.utf8
        if bytes.starts(with: prefix.utf8) {
            // Only these end the host for certain: what looks like a port may belong to a user's name before the real host.
            let next = bytes.dropFirst(prefix.utf8.count).first
            if next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?") { return true }
        }
        return HTTPOrigin(url) == origin
    }
}
