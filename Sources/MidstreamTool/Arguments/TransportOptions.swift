import Foundation
import Midstream

#if Curl && os(Linux)
    import MidstreamCurl
#endif
#if !os(Linux)
    import MidstreamURLSession
#elseif URLSession
    import URLSessionOnLinux
#endif

/// Which transport to use and how it connects.
struct TransportOptions {
    private var name: String?
    private var authorities: String?
    private var isInsecure = false
    private var proxy: String?
    private var unixSocket: String?

    /// Takes an option if it is one of these.
    mutating func take(option: String, value: () throws -> String) throws -> Bool {
        switch option {
        case "--transport": name = try value()
        case "--ca":
            let path = try value()
            guard FileManager.default.isReadableFile(atPath: path) else { throw UsageError("can't read the file '\(path)'") }
            authorities = path
        case "--insecure": isInsecure = true
        case "--proxy": proxy = try value()
        case "--unix-socket": unixSocket = try value()
        default: return false
        }
        return true
    }

    private var hasConnectionOptions: Bool { authorities != nil || isInsecure || proxy != nil || unixSocket != nil }

    func transport() throws -> any HTTPTransport {
        #if Curl && os(Linux)
            if name == "curl" || (name == nil && hasConnectionOptions) { return try curlTransport() }
        #endif
        guard !hasConnectionOptions else {
            throw UsageError("--ca, --insecure, --proxy and --unix-socket need the curl transport")
        }
        switch name {
        case nil: return HTTPClient.defaultTransport
        #if !os(Linux) || URLSession
            case "urlsession": return URLSessionTransport()
        #else
            case "urlsession": throw UsageError("this midst was built without URLSession: it takes the package trait URLSession")
        #endif
        case let name?: throw UsageError("there is no transport '\(name)' here")
        }
    }

    #if Curl && os(Linux)
        private func curlTransport() throws -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.tls.authorities = authorities.map { .file($0) }
            configuration.tls.verifiesCertificates = !isInsecure
            configuration.unixSocketPath = unixSocket
            if let proxy { configuration.proxy = try Self.proxy(proxy) }
            return CurlTransport(configuration: configuration)
        }

        private static func proxy(_ text: String) throws -> CurlTransport.Configuration.Proxy {
            guard let url = URLComponents(string: text), let scheme = url.scheme, let host = url.host else {
                throw UsageError("a proxy is written http://[USER:PASSWORD@]HOST:PORT or socks5://…")
            }
            let credentials = url.user.map { CurlTransport.Configuration.Credentials(user: $0, password: url.password ?? "") }
            let port = url.port.map { ":\($0)" } ?? ""
            switch scheme {
            case "http", "https": return .http("\(scheme)://\(host)\(port)", credentials: credentials)
            case "socks5", "socks5h": return .socks5("\(host)\(port)", credentials: credentials)
            default: throw UsageError("a proxy is http://…, https://… or socks5://…")
            }
        }
    #endif
}
