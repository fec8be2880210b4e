#if os(Linux)
    internal import MidstreamCore
    internal import MidstreamTransport

    /// Where a connection for a route leads first.
    struct Endpoint {
        enum Place {
            case address(HostAddress)
            case host(String, port: UInt16)
        }

        let place: Place
        /// For messages.
        let name: String

        init(of route: Route, _ settings: WireSettings) {
            if let path = settings.configuration.unixSocketPath, let address = HostAddress(unixPath: path) {
                place = .address(address)
                name = "the socket \(path)"
                return
            }
            if let text = route.address, let address = HostAddress(text, defaultPort: route.port) {
                place = .address(address)
                name = "\(text) for \(route.authority)"
                return
            }
            var (host, port) = (route.proxy?.host ?? route.name, route.proxy?.port ?? route.port)
            var zone = route.proxy == nil ? route.zone : nil
            if route.proxy == nil, let other = settings.hostOverrides[route.authority] {
                let parts = URLText("http://\(other)")
                host = parts.host.map { String($0) } ?? other
                port = parts.portText.flatMap { UInt16($0) } ?? port
                zone = nil
            }
            place = HostAddress(literal: host, port: port, zone: zone).map { .address($0) } ?? .host(host, port: port)
            let shown = zone.map { "\(host)%\($0)" } ?? host
            name = route.proxy == nil ? "\(shown) port \(port)" : "the proxy \(shown) port \(port)"
        }
    }
#endif
