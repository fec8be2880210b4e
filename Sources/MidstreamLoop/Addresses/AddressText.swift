#if os(Linux)
    internal import MidstreamCore

    /// An address of IPv4 or IPv6 as people write it, with a port or without.
    package struct AddressText {
        /// Without brackets.
        package let host: String
        package let port: UInt16?

        /// - Parameter text: One of IPv6 has brackets where it has a port. Nil is returned for what is no address.
        package init?(_ text: String) {
            if Self.isAddress(text) {
                (host, port) = (text, nil)
                return
            }
            let parts = URLText("http://\(text)")
            guard let host = parts.host, parts.hostAndPort?.utf8.count == text.utf8.count else { return nil }
            let inner = host.withinBrackets
            let name = inner ?? String(host)
            guard Self.isAddress(name), (inner != nil) == name.contains(":") else { return nil }
            self.host = name
            guard let text = parts.portText else {
                port = nil
                return
            }
            guard let port = UInt16(text), port > 0 else { return nil }
            self.port = port
        }

        /// Whether a text is an address of IPv4, or one of IPv6 without brackets.
        package static func isAddress(_ text: String) -> Bool {
            !text.hasPrefix("[") && !text.contains("/") && AddressRange(text) != nil
        }

        /// As it stands in a URL.
        package var hostInURL: String { host.contains(":") ? "[\(host)]" : host }
    }

    extension StringProtocol {
        /// What stands in the brackets of an IPv6 address; nil where there are none.
        package var withinBrackets: String? { hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : nil }
    }
#endif
