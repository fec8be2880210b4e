#if os(Linux)
    internal import Foundation
    internal import MidstreamCore
    internal import MidstreamLoop
    internal import MidstreamTransport

    /// A proxy, and what it is told of its user.
    struct ProxyServer: Sendable {
        enum Kind: Sendable {
            case http
            /// By TLS.
            case https
            /// RFC 1928; whether it looks up the names.
            case socks5(resolvesNames: Bool)
        }

        let kind: Kind
        let host: String
        let port: UInt16
        let credentials: TransportConfiguration.Credentials?

        /// `Proxy-Authorization`'s value.
        var authorization: String? { credentials.map { .basic(user: $0.user, password: $0.password) } }

        var isHTTP: Bool { if case .socks5 = kind { false } else { true } }
        var isSecure: Bool { if case .https = kind { true } else { false } }
        /// Without an IPv6 address' brackets.
        var name: String { host.withinBrackets ?? host }
    }

    /// Through what connections go, by the URL's scheme and host.
    struct Routes: Sendable {
        private struct Rule {
            var proxy: ProxyServer
            /// Names in small letters and in ASCII, as hosts are, without the dots before and behind them.
            var exceptions: [String]
        }

        private var plain: Rule?
        private var secure: Rule?
        private(set) var problem: HTTPError?

        init(_ configuration: TransportConfiguration) {
            // All connections lead to the socket then, and what a proxy is told is none of its server's business.
            guard configuration.unixSocketPath == nil else { return }
            switch configuration.proxy {
            case .direct: break
            case .environment: readEnvironment()
            case .http(let address, let credentials, let exceptions):
                plain = rule(address, .http, credentials, exceptions)
                secure = plain
            case .socks5(let address, let credentials, let exceptions):
                plain = rule(address, .socks5(resolvesNames: true), credentials, exceptions)
                secure = plain
            }
        }

        /// Whether there is a proxy that is spoken to by TLS.
        var haveSecureProxy: Bool { plain?.proxy.isSecure == true || secure?.proxy.isSecure == true }

        /// The proxy for a host, in small letters; nil: none.
        func proxy(isSecure: Bool, host: String) -> ProxyServer? {
            guard let rule = isSecure ? secure : plain, !Self.isExcepted(host, rule.exceptions) else { return nil }
            return rule.proxy
        }

        /// A name in the list covers its subdomains, a range its addresses, `*` everything.
        private static func isExcepted(_ host: String, _ exceptions: [String]) -> Bool {
            let address = HostAddress(literal: host, port: 0)?.bytes
            let host = withoutLastDot(host)
            return exceptions.contains { name in
                if let address, let range = AddressRange(name) { return range.contains(address) }
                return name == "*" || (!name.isEmpty && (host == name || host.hasSuffix(".\(name)")))
            }
        }

        private static func exception(_ text: String) -> String {
            let name = text.hasPrefix(".") ? text.dropFirst() : text[...]
            return withoutLastDot((URLText.asciiHost(name) ?? String(name)).lowercased())
        }

        /// It says that a name is absolute, which those in the list are anyway.
        private static func withoutLastDot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }

        private mutating func readEnvironment() {
            let environment = EnvironmentProxies()
            plain = environment.plain.flatMap { rule($0, .http, nil, environment.exceptions) }
            secure = environment.secure.flatMap { rule($0, .http, nil, environment.exceptions) }
        }

        /// - Parameter kind: What an address without a scheme means.
        private mutating func rule(
            _ address: String, _ kind: ProxyServer.Kind, _ credentials: TransportConfiguration.Credentials?,
            _ exceptions: [String]
        ) -> Rule? {
            let parts = URLText(address.contains("://") ? address : "proxy://\(address)")
            let known: ProxyServer.Kind? =
                switch parts.scheme?.lowercased() {
                case "proxy": kind
                case "http": .http
                case "https": .https
                case "socks5h": .socks5(resolvesNames: true)
                case "socks5": .socks5(resolvesNames: false)
                default: nil
                }
            if known == nil, let scheme = parts.scheme {
                problem = .unsupported("The wire transport knows no proxy of the kind \(scheme), which proxy asks for.")
                return nil
            }
            // As in curl where none is given.
            let usualPort: UInt16 = if case .https? = known { 443 } else { 1080 }
            guard let known, let host = parts.host, !host.isEmpty, let port = parts.portText.map({ UInt16($0) }) ?? usualPort,
                !parts.hasLateUserInfo
            else {
                problem = HTTPError(.proxy, "The address of the proxy isn't one.", phase: .notSent)
                return nil
            }
            let own = parts.userInfo.map { info in
                let pieces = info.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                    .map { String(decoding: Array($0.utf8).percentDecoded(), as: UTF8.self) }
                return TransportConfiguration.Credentials(user: pieces[0], password: pieces.count > 1 ? pieces[1] : "")
            }
            let proxy = ProxyServer(kind: known, host: host.lowercased(), port: port, credentials: credentials ?? own)
            return Rule(proxy: proxy, exceptions: exceptions.map(Self.exception))
        }
    }
#endif
