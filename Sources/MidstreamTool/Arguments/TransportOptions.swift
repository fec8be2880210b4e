import Foundation
import Midstream

#if Curl && os(Linux)
    import MidstreamCurl
#endif
#if Wire && os(Linux)
    import MidstreamWire
#endif
#if !os(Linux)
    import MidstreamURLSession
#elseif URLSession
    import URLSessionOnLinux
#endif

/// Which transport to use and how it connects.
struct TransportOptions {
    var name: String?
    /// As PEM.
    var authorities: [UInt8]?
    var isInsecure = false
    var proxy: String?
    var unixSocket: String?
    /// As PEM, and so is the key.
    var certificate: [UInt8]?
    var key: [UInt8]?
    var connectTimeout: Duration?
    private var overrides: [String: String] = [:]
    var isHTTP1 = false
    var isHTTP2 = false
    var isHTTP3 = false

    /// `HOST:PORT:ADDRESS`, as curl has it: an IPv6 address may stand in brackets.
    mutating func add(override text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 2).map(String.init)
        guard parts.count == 3, Int(parts[1]) != nil else { throw UsageError("--resolve is written HOST:PORT:ADDRESS") }
        guard !"*+-".contains(text.prefix(1)), !parts[2].contains(",") else {
            throw UsageError("--resolve takes a host by its name, and one address")
        }
        // Without brackets the end of an IPv6 address would pass for a port.
        let isBare = !parts[2].hasPrefix("[") && parts[2].count { $0 == ":" } > 1
        overrides["\(parts[0]):\(parts[1])"] = isBare ? "[\(parts[2])]" : parts[2]
    }

    /// For what goes to another server than the request: without what is meant for that one.
    var elsewhere: TransportOptions {
        var options = self
        (options.unixSocket, options.proxy, options.certificate, options.key) = (nil, nil, nil, nil)
        (options.isInsecure, options.isHTTP1, options.isHTTP2, options.isHTTP3) = (false, false, false, false)
        return options
    }

    private var hasConnectionOptions: Bool {
        authorities != nil || isInsecure || proxy != nil || unixSocket != nil || certificate != nil || connectTimeout != nil
            || !overrides.isEmpty || isHTTP1 || isHTTP2
    }

    func transport() throws -> any HTTPTransport {
        #if Wire && os(Linux)
            if name == "wire" || (name == nil && !isHTTP3 && (hasConnectionOptions || Self.keyLog != nil)) {
                var configuration = try configuration()
                if let path = Self.keyLog { configuration.tls = configuration.tls.keyLog(to: path) }
                return WireTransport(configuration: configuration)
            }
        #endif
        #if Curl && os(Linux)
            if name == "curl" || (name == nil && (hasConnectionOptions || isHTTP3)) {
                return CurlTransport(configuration: try configuration())
            }
        #elseif os(Linux)
            if name == nil, isHTTP3 {
                throw UsageError("this midst was built without libcurl, which --http3 needs: it takes the package trait Curl")
            }
        #endif
        // Of any other it is said below that it isn't there.
        guard !hasConnectionOptions || ![nil, "urlsession"].contains(name) else {
            throw UsageError("options about connections, such as --ca and --proxy, need the curl transport or the wire")
        }
        #if !os(Linux)
            if isHTTP3, name == nil { return URLSessionTransport(assumesHTTP3Capable: true) }
        #endif
        switch name {
        case nil: return HTTPClient.defaultTransport
        #if !os(Linux) || URLSession
            case "urlsession": return URLSessionTransport(assumesHTTP3Capable: isHTTP3)
        #else
            case "urlsession": throw UsageError("this midst was built without URLSession: it takes the package trait URLSession")
        #endif
        #if os(Linux)
            case "wire": throw UsageError("this midst was built without the wire: it takes the package trait Wire")
            case "curl": throw UsageError("this midst was built without libcurl: it takes the package trait Curl")
        #endif
        case let name?: throw UsageError("there is no transport '\(name)' here")
        }
    }

    #if Wire && os(Linux)
        /// Where the wire writes TLS's secrets to. libcurl reads the variable itself.
        private static var keyLog: String? {
            ProcessInfo.processInfo.environment["SSLKEYLOGFILE"].flatMap { $0.isEmpty ? nil : $0 }
        }
    #endif

    #if os(Linux)
        private func configuration() throws -> TransportConfiguration {
            var configuration = TransportConfiguration()
            configuration.tls.authorities = authorities.map { .pem($0) }
            configuration.tls.verifiesCertificates = !isInsecure
            configuration.unixSocketPath = unixSocket
            configuration.hostOverrides = overrides
            if let connectTimeout { configuration.connectTimeout = connectTimeout }
            if isHTTP1 { configuration.httpVersions = .http1Only }
            if isHTTP2 { configuration.httpVersions = .http2PriorKnowledge }
            if isHTTP3 { configuration.httpVersions = .http3 }
            if let certificate {
                configuration.tls.clientCertificate = .init(certificate: certificate, key: key ?? certificate)
            }
            if let proxy { configuration.proxy = try Self.proxy(proxy) }
            return configuration
        }

        private static func proxy(_ text: String) throws -> TransportConfiguration.Proxy {
            guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(), let host = url.host,
                !URLText(text).hasLateUserInfo
            else {
                throw UsageError("a proxy is written http://[USER:PASSWORD@]HOST:PORT or socks5://…")
            }
            let credentials = url.user.map { TransportConfiguration.Credentials(user: $0, password: url.password ?? "") }
            let port = url.port.map { ":\($0)" } ?? ""
            switch scheme {
            case "http", "https": return .http("\(scheme)://\(host)\(port)", credentials: credentials)
            case "socks5", "socks5h": return .socks5("\(scheme)://\(host)\(port)", credentials: credentials)
            default: throw UsageError("a proxy is http://…, https://… or socks5://…")
            }
        }
    #endif
}
