internal import Foundation

extension URLText {
    /// The length of the longest host name (RFC 1035 §2.3.4), without the root's dot at its end.
    package static let maximumHost = 253

    /// The host as it goes on the wire: its labels in ASCII (RFC 5890 §2.3.2.1) by the rules of UTS 46, as browsers have them; a host of
    /// ASCII as it is. nil when it can't be a host, or is longer than any.
    package static func asciiHost(_ host: Substring) -> String? {
        guard host.utf8.count <= 4 * maximumHost else { return nil }
        guard host.utf8.contains(where: { $0 >= 128 }) else { return String(host) }
        // Letters and the bytes of names only: others that a URL allows in a host could change their meaning in the mapped one.
        guard host.utf8.allSatisfy({ $0 >= 128 || $0.isHostByte }),
            let url = URL(string: "http://\(host)/")
        else { return nil }
        let text = url.absoluteString
        guard let mapped = URLText(text).host, text == "http://\(mapped)/", !mapped.isEmpty,
            mapped.utf8.allSatisfy(\.isHostByte)
        else { return nil }
        return String(mapped)
    }
}

extension UInt8 {
    fileprivate var isHostByte: Bool { isUnreserved && self != UInt8(ascii: "~") }
}
