#if os(Linux)
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// What a configuration means for the wire, the same for all requests.
    final class WireSettings: Sendable {
        let configuration: TransportConfiguration
        /// What `Accept-Encoding` offers; nil: nothing, and nothing is decoded.
        let acceptEncoding: String?
        /// What it allows every transfer.
        let limits: TransferLimits
        let routes: Routes
        let lookup: HostLookup
        /// Which addresses connections may be made to.
        let allowed: AllowedAddresses
        /// What connections are made from; nil: the system chooses.
        let localAddress: HostAddress?
        /// By `host:port` in small letters.
        let hostOverrides: [String: String]
        /// Whether servers may choose HTTP/2.
        let offersHTTP2: Bool
        let connectTimeout: UInt64?
        let idleLifetime: UInt64
        let longestAge: UInt64?
        let silence: HTTP2Silence
        /// How long an `Expect: 100-continue` waits for an answer (RFC 9110 §10.1.1), in nanoseconds: a second.
        let patience: UInt64
        /// Why no request can be sent.
        let problem: HTTPError?
        /// The route of the last request; most go where the one before went.
        private let lastRoute = Locked<Route?>(nil)
        /// How many connections there have been.
        private let connections = Locked(0)
        private let tls: KeptTLSContext
        /// For proxies that are spoken to by TLS.
        let proxyTLS: KeptTLSContext

        /// - Parameter lookup: Nil: one of its own.
        init(
            _ configuration: TransportConfiguration, silence: HTTP2Silence = HTTP2Silence(), patience: UInt64 = 1_000_000_000,
            canSpeakHTTP2: Bool = HTTP2Library.isSafe, lookup: HostLookup? = nil
        ) {
            self.configuration = configuration
            self.silence = silence
            self.patience = patience
            acceptEncoding =
                configuration.decompresses ? ContentCoding.offer(zstandard: configuration.offersZstandard) : nil
            routes = Routes(configuration)
            tls = KeptTLSContext(configuration.tls)
            proxyTLS = KeptTLSContext(configuration.tls.forProxies)
            self.lookup = lookup ?? HostLookup(configuration.resolver)
            allowed = AllowedAddresses(configuration.destinations)
            localAddress = configuration.localAddress.flatMap { HostAddress(literal: $0, port: 0) }
            limits = TransferLimits(configuration, forwardsPlainRequests: false)
            hostOverrides = Dictionary(
                configuration.hostOverrides.map { (Self.authority($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
            connectTimeout = configuration.connectTimeout?.wholeNanoseconds
            idleLifetime = configuration.idleConnectionLifetime.wholeNanoseconds
            longestAge = configuration.maximumConnectionAge?.wholeNanoseconds
            offersHTTP2 = configuration.httpVersions != .http1Only && canSpeakHTTP2
            problem = Self.problem(configuration, canSpeakHTTP2: canSpeakHTTP2) ?? routes.problem ?? allowed.problem
        }

        /// A host and a port as URLs have them: in small letters and in ASCII.
        private static func authority(_ text: String) -> String {
            let parts = URLText("http://\(text)")
            guard let host = parts.host, let name = URLText.asciiHost(host) else { return text.lowercased() }
            return "\(name)\(parts.portText.map { ":\($0)" } ?? "")".lowercased()
        }

        /// What every call's trace says of the versions of HTTP that are asked for; nil: nothing.
        var remark: String? {
            if configuration.httpVersions == .http3 { return "HTTP/3 isn't spoken: the wire hasn't it; CurlTransport has" }
            guard configuration.httpVersions == .automatic, !offersHTTP2 else { return nil }
            return "HTTP/2 isn't spoken: \(Self.unsafeLibrary)"
        }

        private static let unsafeLibrary = "the nghttp2 that is loaded lets servers hold up the client"

        private static func problem(_ configuration: TransportConfiguration, canSpeakHTTP2: Bool) -> HTTPError? {
            if configuration.httpVersions == .http2PriorKnowledge, !canSpeakHTTP2 {
                return .unsupported("HTTP/2 isn't spoken: \(unsafeLibrary).")
            }
            if configuration.httpVersions == .http3Only {
                return .unsupported("httpVersions is .http3Only, and the wire speaks no HTTP/3; CurlTransport does.")
            }
            if configuration.tls.pinnedPublicKeys.contains(where: { !$0.hasPrefix("sha256//") }) {
                return .tls("A pinned public key must have the form sha256//….")
            }
            if let path = configuration.unixSocketPath, HostAddress(unixPath: path) == nil {
                return HTTPError(.connection, "The path of the unix domain socket is empty or too long.", phase: .notSent)
            }
            if let address = configuration.localAddress, !AddressText.isAddress(address) {
                return HTTPError(.connection, "localAddress is no address of IPv4 or IPv6.", phase: .notSent)
            }
            return nil
        }

        /// - Parameter address: Where connections lead in place of the URL's host; nil: there.
        func route(of url: String, address: String?) -> Route {
            var url = url
            if let last = lastRoute.withLock({ $0 }), last.address == address, last.leads(to: &url) { return last }
            let route = Route(url, routes, address: address)
            lastRoute.withLock { $0 = route }
            return route
        }

        /// Gives a connection its number, from 1 on.
        func nextConnectionNumber() -> Int {
            connections.withLock { connections in
                connections += 1
                return connections
            }
        }

        /// OpenSSL's contexts that a transfer needs, made now rather than on the loop's thread: that of https is returned.
        func tlsContext(isSecure: Bool) throws -> TLSContext? {
            if routes.haveSecureProxy { _ = try proxyTLS.current() }
            return isSecure ? try tls.current() : nil
        }
    }

    extension Route {
        /// - Throws: ``HTTPError`` when no connection can lead there.
        func check(_ settings: WireSettings) throws {
            if proxy != nil, !settings.allowed.isAny { throw HTTPError.destinationsBehindProxy }
            if proxy != nil, settings.hostOverrides[authority] != nil {
                throw HTTPError.unsupported("Through a proxy no connection can go where hostOverrides has it go.")
            }
            guard let address else { return try checkZone(settings) }
            guard proxy == nil, settings.configuration.unixSocketPath == nil else {
                throw HTTPError.unsupported("A request with an address can't go through a proxy or a unix domain socket.")
            }
            guard HostAddress(address, defaultPort: port) != nil else { throw HTTPError.noAddress }
        }

        private func checkZone(_ settings: WireSettings) throws {
            guard let zone, proxy == nil, settings.configuration.unixSocketPath == nil, settings.hostOverrides[authority] == nil,
                HostAddress.scope(ofZone: zone) == nil
            else { return }
            throw HTTPError(
                .nameResolution, "This machine has no network \(zone), which the URL says that \(host) is in.", phase: .notSent)
        }
    }
#endif
