#if os(Linux)
    internal import Foundation

    /// An IPv6 address in a URL with its zone, `[fe80::1%25eth0]` (RFC 6874): which of this machine's networks it is in. That means nothing to
    /// anybody else (§4).
    struct ZonedHost {
        /// The address in its brackets.
        let host: String
        /// As the system calls it.
        let zone: String

        /// Nil for a host without a zone.
        init?(_ host: Substring) {
            guard host.hasPrefix("["), host.hasSuffix("]"), let mark = host.firstIndex(of: "%") else { return nil }
            var zone = host[mark...].dropFirst().dropLast()
            // Many write it as the system does, with a bare percent sign.
            if zone.hasPrefix("25"), zone.count > 2 { zone = zone.dropFirst(2) }
            guard !zone.isEmpty else { return nil }
            self.host = "\(host[..<mark])]"
            self.zone = zone.removingPercentEncoding ?? String(zone)
        }
    }
#endif
