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
            if route.proxy == nil, let other = settings.hostOverrides[route.authority] {
                let parts = URLText("http://\(other)")
                host = parts.host.map { String($0) } ?? other
                port = parts.portText.flatMap { UInt16($0) } ?? port
            }
            place = HostAddress(literal: host, port: port).map { .address($0) } ?? .host(host, port: port)
            name = route.proxy == nil ? "\(host) port \(port)" : "the proxy \(host) port \(port)"
        }
    }
#endif
