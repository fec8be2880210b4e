#if os(Linux)
    import Glibc
    internal import MidstreamCore
    internal import MidstreamLoop

    /// Where a request goes, and through what. Requests of equal routes may share connections.
    final class Route: Hashable, Sendable {
        /// The URL up to its path, as it was written.
        private let origin: [UInt8]
        let isSecure: Bool
        /// In small letters, an IPv6 address in its brackets and without its zone.
        let host: String
        /// The zone of an IPv6 address; nil: none.
        let zone: String?
        let port: UInt16
        /// Where connections lead in place of the host; nil: there.
        let address: String?
        let proxy: ProxyServer?
        /// Whether a proxy is to forward the requests; otherwise one is asked for a tunnel.
        let isForwarded: Bool
        /// See ``Transfer/hostKey``: where connections lead.
        let hostKey: Int

        /// - Parameter isTunnel: Whether a proxy is asked for a tunnel even where it would forward a request.
        init(_ url: String, _ routes: Routes, address: String? = nil, isTunnel: Bool = false) {
            let parts = URLText(url)
            let isSecure = url.hasSecureScheme
            let zoned = parts.host.flatMap { ZonedHost($0) }
            let host = (zoned?.host ?? parts.host.map { String($0) })?.lowercased() ?? ""
            self.isSecure = isSecure
            self.host = host
            zone = zoned?.zone
            self.address = address
            let port = parts.portText.flatMap { UInt16($0) } ?? (isSecure ? 443 : 80)
            self.port = port
            let proxy = routes.proxy(isSecure: isSecure, host: host)
            let isForwarded = !isSecure && proxy?.isHTTP == true && !isTunnel
            self.proxy = proxy
            self.isForwarded = isForwarded
            // However the URL writes it.
            let end = "\(isSecure ? "https" : "http")://\(host)\(zoned?.zone ?? ""):\(port)"
            hostKey = Admission.hostKey(of: isForwarded ? "proxy://" : end, at: address)
            var url = url
            origin = url.withUTF8 { Array($0.prefix(TargetParts($0).path)) }
        }

        /// Where connections lead: all forwarded requests share those to the proxy.
        private var end: (String, UInt16) { isForwarded ? ("", 0) : (host, port) }

        static func == (first: Route, second: Route) -> Bool {
            first === second
                || first.end == second.end && first.isSecure == second.isSecure && first.isForwarded == second.isForwarded
                    && first.address == second.address && first.zone == second.zone
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(end.0)
            hasher.combine(end.1)
            hasher.combine(isSecure)
        }

        /// Whether a URL is for certain of this route: it begins as that did for which the route was found.
        func leads(to url: inout String) -> Bool {
            url.withUTF8 { url in
                guard url.count >= origin.count, let start = url.baseAddress, memcmp(start, origin, origin.count) == 0 else {
                    return false
                }
                return url.count == origin.count || [47, 63, 35].contains(url[origin.count])
            }
        }

        /// Nil for those that requests to several share.
        var originOfConnections: String? {
            isForwarded ? nil : HTTPOrigin("\(isSecure ? "https" : "http")://\(authority)")?.description
        }

        /// As it stands in an authority.
        var authority: String { "\(host):\(port)" }
        /// Without an IPv6 address' brackets.
        var name: String { host.withinBrackets ?? host }
    }
#endif
