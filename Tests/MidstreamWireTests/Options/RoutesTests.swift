#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing) struct RoutesTests {
        private func routes(_ proxy: TransportConfiguration.Proxy) -> Routes { Routes(TransportConfiguration(proxy: proxy)) }

        @Test(arguments: [
            ("http://h.example/", true), ("https://h.example", true), ("http://a.h.example", true), ("http://ah.example", false),
            ("http://H.Example", true), ("http://a.h.example./", true), ("http://dotted.example/", true),
            ("http://127.0.0.1:80", true), ("http://[::1]/", true), ("http://other", false),
        ])
        func `Exceptions cover names, their subdomains and addresses`(url: String, isDirect: Bool) {
            let routes = routes(
                .http("http://p.example:3128", noProxy: [".h.example", "dotted.example.", "127.0.0.1", "::1", ""]))
            #expect((Route(url, routes).proxy == nil) == isDirect)
            #expect(Route(url, self.routes(.http("p.example", noProxy: ["*"]))).proxy == nil)
        }

        @Test(arguments: [
            ("http://10.96.0.1/", true), ("http://10.112.0.1/", false), ("http://192.168.1.9:81/", true),
            ("http://[fd00::1]/", true), ("http://[0:0::0:1]/", true), ("http://[fe80::1]/", false),
            ("http://10.96.0.1.example/", false),
        ])
        func `Exceptions cover ranges of addresses, however one is written`(url: String, isDirect: Bool) {
            let routes = routes(.http("p.example", noProxy: ["10.96.0.0/12", "192.168.1.9", "fd00::/8", "[::1]"]))
            #expect((Route(url, routes).proxy == nil) == isDirect)
        }

        @Test func `The environment's exceptions stand between commas, blanks and tabs`() async {
            await #expect(processExitsWith: .success) {
                setenv("http_proxy", "http://p.example:3128", 1)
                setenv("no_proxy", "a.example,b.example c.example\td.example", 1)
                let routes = Routes(TransportConfiguration(proxy: .environment))
                for host in ["a", "b", "c", "d"] { #expect(routes.proxy(isSecure: false, host: "\(host).example") == nil) }
                #expect(routes.proxy(isSecure: false, host: "e.example") != nil)
            }
        }

        @Test func `Exceptions and overrides are found in the form that hosts have in URLs`() {
            let proxy = TransportConfiguration.Proxy.http("http://P.Example", noProxy: [".Bücher.example", "b.example"])
            #expect(Route("http://a.xn--bcher-kva.example/", routes(proxy)).proxy == nil)
            #expect(Route("http://other.example/", routes(proxy)).proxy?.host == "p.example")
            let settings = WireSettings(
                TransportConfiguration(hostOverrides: ["Bücher.example:80": "127.0.0.1:81", "[::A]:443": "127.0.0.1"]))
            for (url, name) in [("http://xn--bcher-kva.example/", "127.0.0.1 port 81"), ("https://[::a]/", "127.0.0.1 port 443")]
            {
                #expect(Endpoint(of: settings.route(of: url, address: nil), settings).name == name)
            }
        }

        @Test func `A unix domain socket is met without a proxy`() {
            let proxy = TransportConfiguration.Proxy.http("http://u:p@p.example")
            let routes = Routes(TransportConfiguration(proxy: proxy, unixSocketPath: "/run/s"))
            for url in ["http://h.example/", "https://h.example/"] {
                let route = Route(url, routes)
                #expect(route.proxy == nil)
                #expect(!route.isForwarded)
            }
        }

        @Test func `A host that is led elsewhere isn't reached through a proxy`() {
            let overrides = ["a.example:80": "127.0.0.1", "b.example:80": "127.0.0.1"]
            let settings = WireSettings(
                TransportConfiguration(proxy: .http("p.example", noProxy: ["b.example"]), hostOverrides: overrides))
            for (host, isRefused) in [("A.example", true), ("a.example:81", false), ("b.example", false)] {
                let error = Result { try settings.route(of: "http://\(host)/", address: nil).check(settings) }.httpError
                #expect((error?.code == .unsupported) == isRefused, "\(host)")
            }
        }

        @Test func `A proxy's address has what it doesn't say by default`() {
            let proxy = routes(.http("http://u%20x:5%-p%40@p.example")).proxy(isSecure: true, host: "h")
            #expect(proxy?.host == "p.example")
            #expect(proxy?.port == 1080)
            #expect(proxy?.credentials == .init(user: "u x", password: "5%-p@"))
            let given = TransportConfiguration.Credentials(user: "a", password: "b")
            #expect(routes(.socks5("p:9", credentials: given)).proxy(isSecure: false, host: "h")?.credentials == given)
        }

        @Test(arguments: ["ftp://p.example:3128", "socks4://p.example:1"])
        func `What can't be spoken to is told`(address: String) {
            #expect(routes(.http(address)).problem?.code == .unsupported)
        }

        @Test(arguments: [
            "", "http://", "http://p.example:0x1", "http://p.example:99999", "u:12/3@p.example", "\"http://p.example:1\"",
            " http://p.example:1",
        ])
        func `An address that isn't one is told`(address: String) { #expect(routes(.http(address)).problem?.code == .proxy) }

        @Test func `Requests to the same end share its connections`() {
            let direct = routes(.direct)
            #expect(Route("http://h.example/a", direct) == Route("http://H.EXAMPLE:80?b", direct))
            #expect(Route("http://h.example/", direct) != Route("https://h.example/", direct))
            #expect(Route("http://h.example/", direct) != Route("http://h.example:81/", direct))
            let forwarded = routes(.http("p.example"))
            #expect(Route("http://a/", forwarded) == Route("http://b/", forwarded))
            #expect(Route("https://a/", forwarded) != Route("https://b/", forwarded))
        }

        @Test(arguments: [
            ("https://h.example:443/a", true), ("https://u:p@h.example?b", true), ("HTTPS://H.EXAMPLE:/", true),
            ("https://h.example:444/", false), ("http://h.example:443/", false), ("https://a.h.example/", false),
        ])
        func `Requests to the same end count towards the same limit`(url: String, isSame: Bool) {
            let key = Route("https://h.example/", routes(.direct)).hostKey
            #expect((Route(url, routes(.direct)).hostKey == key) == isSame)
            #expect(Route(url, routes(.direct), address: "10.0.0.1").hostKey != key)
        }

        @Test(arguments: [
            ("http://h.example", true), ("http://h.example/b", true), ("http://h.example?b", true), ("http://h.example#b", true),
            ("http://h.example:81/", false), ("http://h.example.net/", false), ("http://h.exampl", false),
            ("https://h.example/", false),
        ])
        func `A route knows the URLs that it is for`(url: String, leads: Bool) {
            var url = url
            #expect(Route("http://h.example/a", routes(.direct)).leads(to: &url) == leads)
        }

        @Test func `A proxy is shown no client certificate, and the pins are of servers' keys`() {
            var configuration = TLSConfiguration()
            configuration.clientCertificate = .init(certificate: "/certificate.pem", key: "/key.pem")
            configuration.pinnedPublicKeys = ["sha256//AAAA"]
            #expect(configuration.forProxies.clientCertificate == nil && configuration.forProxies.pinnedPublicKeys.isEmpty)
        }
    }
#endif
