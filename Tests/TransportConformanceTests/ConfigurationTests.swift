#if os(Linux)
    import Foundation
    import Midstream
    import MidstreamCore
    import MidstreamTesting
    import MidstreamTransport
    import TestSupport
    import Testing

    /// What transports are told by a ``TransportConfiguration``, against nginx and real proxies: TLS, proxies, sockets, overrides, limits.
    @Suite(.leavesNothing, .enabled(if: Nginx.isRunning), .timeLimit(.minutes(10))) struct ConfigurationTests {
        private let http = Nginx.http ?? ""
        private let https = Nginx.https ?? ""

        // MARK: TLS

        @Test(arguments: ConfiguredTransport.allCases) func anUnknownAuthorityIsNotTrusted(transport: ConfiguredTransport) async {
            let client = transport.client { $0.tls.authorities = nil }
            await expectError(.tls, .notSent) { try await client.send(HTTPRequest(https + "/hello")) }
        }

        @Test(arguments: ConfiguredTransport.allCases) func anAuthorityThatCannotBeReadIsAnError(transport: ConfiguredTransport)
            async
        {
            for authorities in [
                TLSConfiguration.Authorities.file("/nonexistent"), .pem([UInt8]("no certificate")),
            ] {
                let client = transport.client { $0.tls.authorities = authorities }
                await expectError(.tls, .notSent) { try await client.send(HTTPRequest(https + "/hello")) }
            }
        }

        @Test(arguments: ConfiguredTransport.allCases) func anAuthorityMayBeInMemory(transport: ConfiguredTransport) async throws
        {
            let pem = Array(try Data(contentsOf: URL(fileURLWithPath: try #require(Nginx.authority))))
            try await Nginx.expectHello(https + "/hello", by: transport.client { $0.tls.authorities = .pem(pem) })
        }

        @Test(arguments: ConfiguredTransport.allCases) func aCertificateHasToBeOfTheHost(transport: ConfiguredTransport)
            async throws
        {
            let port = try #require(https.split(separator: ":").last)
            let client = transport.client { $0.hostOverrides = ["other.example:\(port)": "127.0.0.1"] }
            await expectError(.tls, .notSent) { try await client.send(HTTPRequest("https://other.example:\(port)/hello")) }
        }

        @Test(arguments: ConfiguredTransport.allCases) func verificationCanBeTurnedOff(transport: ConfiguredTransport)
            async throws
        {
            let client = transport.client {
                $0.tls.authorities = nil
                $0.tls.verifiesCertificates = false
            }
            try await Nginx.expectHello(https + "/hello", by: client)
        }

        @Test(arguments: ConfiguredTransport.allCases) func aPinnedKeyIsDemanded(transport: ConfiguredTransport) async throws {
            let pin = try #require(Nginx.pin)
            let wrong = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            try await Nginx.expectHello(https + "/hello", by: transport.client { $0.tls.pinnedPublicKeys = [pin] })
            try await Nginx.expectHello(https + "/hello", by: transport.client { $0.tls.pinnedPublicKeys = [wrong, pin] })
            for pins in [[wrong], ["no pin"]] {
                let client = transport.client { $0.tls.pinnedPublicKeys = pins }
                await expectError(.tls, .notSent) { try await client.send(HTTPRequest(https + "/hello")) }
            }
        }

        @Test(arguments: ConfiguredTransport.allCases) func aClientCertificateIsShown(transport: ConfiguredTransport) async throws
        {
            let origin = try #require(Nginx.mutualTLS)
            let certificate = TLSConfiguration.ClientCertificate(
                certificate: try #require(Nginx.clientCertificate), key: try #require(Nginx.clientKey))
            try await Nginx.expectHello(origin + "/hello", by: transport.client { $0.tls.clientCertificate = certificate })
            #expect(try await transport.client().send(HTTPRequest(origin + "/hello")).status == 400)
            let missing = TLSConfiguration.ClientCertificate(certificate: "/nonexistent", key: "/nonexistent")
            let client = transport.client { $0.tls.clientCertificate = missing }
            await expectError(.tls, .notSent) { try await client.send(HTTPRequest(origin + "/hello")) }
        }

        @Test(arguments: ConfiguredTransport.allCases) func aClientCertificateMayBePKCS12(transport: ConfiguredTransport)
            async throws
        {
            let origin = try #require(Nginx.mutualTLS)
            let file = try #require(Nginx.clientPKCS12)
            let certificate = TLSConfiguration.ClientCertificate(pkcs12: file, password: Nginx.clientPassword)
            try await Nginx.expectHello(origin + "/hello", by: transport.client { $0.tls.clientCertificate = certificate })
            let locked = transport.client { $0.tls.clientCertificate = .init(pkcs12: file, password: "wrong") }
            await expectError(.tls, .notSent) { try await locked.send(HTTPRequest(origin + "/hello")) }
        }

        // MARK: Ways to the server

        @Test(arguments: ConfiguredTransport.allCases) func aUnixSocketIsReached(transport: ConfiguredTransport) async throws {
            let client = transport.client { $0.unixSocketPath = Nginx.socket }
            try await Nginx.expectHello("http://any.name/hello", by: client)
            let nowhere = transport.client { $0.unixSocketPath = "/nonexistent.sock" }
            await expectError(.connection, .notSent) { try await nowhere.send(HTTPRequest("http://any.name/hello")) }
        }

        @Test(arguments: ConfiguredTransport.allCases) func aHostMayBeElsewhere(transport: ConfiguredTransport) async throws {
            let port = try #require(http.split(separator: ":").last)
            let client = transport.client { $0.hostOverrides = ["some.example:80": "127.0.0.1:\(port)"] }
            let response = try await client.send(HTTPRequest("http://some.example/echo-headers"))
            #expect(response.body.bytes.map { String(decoding: $0, as: UTF8.self) }?.contains("|some.example|") == true)
        }

        enum ProxyKind: CaseIterable, Sendable {
            case http, socks5

            func proxy(password: String?, noProxy: [String] = []) throws -> TransportConfiguration.Proxy {
                let credentials = try password.map {
                    TransportConfiguration.Credentials(user: try #require(Nginx.proxyUser), password: $0)
                }
                return switch self {
                case .http: .http(try #require(Nginx.httpProxy), credentials: credentials, noProxy: noProxy)
                case .socks5:
                    .socks5(
                        try #require(Nginx.socksProxy).replacingOccurrences(of: "socks5://", with: ""),
                        credentials: credentials, noProxy: noProxy)
                }
            }
        }

        @Test(arguments: ConfiguredTransport.allCases, ProxyKind.allCases) func aProxyForwards(
            transport: ConfiguredTransport, kind: ProxyKind
        ) async throws {
            let proxy = try kind.proxy(password: Nginx.proxyPassword)
            let client = transport.client { $0.proxy = proxy }
            try await Nginx.expectHello(http + "/hello", by: client)
            try await Nginx.expectHello(https + "/hello", by: client)
            let version = try await client.send(HTTPRequest(https + "/hello")).version
            #expect(version == transport.newestVersion)
            let bytes = noise(1 << 20)
            let response = try await client.send(HTTPRequest(.post, https + "/length", body: .bytes(bytes)))
            #expect(response.body.bytes == [UInt8]("\(bytes.count)\n"))
        }

        @Test(arguments: ConfiguredTransport.allCases, ProxyKind.allCases) func aTunnelNeedsTheRightPassword(
            transport: ConfiguredTransport, kind: ProxyKind
        ) async throws {
            for password in ["wrong-password", nil] {
                let proxy = try kind.proxy(password: password)
                let client = transport.client { $0.proxy = proxy }
                for delivery in Delivery.allCases {
                    let error = await expectError(.proxy, .notSent) {
                        try await delivery.send(HTTPRequest(https + "/hello"), by: client)
                    }
                    #expect(error?.description.contains("wrong-password") == false)
                }
            }
        }

        /// What an HTTP proxy says about a request that it forwards is a response like any other (RFC 9110 §15.5.8).
        @Test(arguments: ConfiguredTransport.allCases) func anHTTPProxyAnswersWhatItDoesNotForward(transport: ConfiguredTransport)
            async throws
        {
            let none = try ProxyKind.http.proxy(password: nil)
            #expect(try await transport.client { $0.proxy = none }.send(HTTPRequest(http + "/hello")).status == 407)
            let wrong = try ProxyKind.http.proxy(password: "wrong-password")
            let status = try await transport.client { $0.proxy = wrong }.send(HTTPRequest(http + "/hello")).status
            #expect(status == 407 || status == 401)
        }

        @Test(arguments: ConfiguredTransport.allCases) func aProxyThatIsNotThereIsAProxyError(transport: ConfiguredTransport)
            async throws
        {
            let nowhere = TransportConfiguration.Proxy.http(try MockServer.refusedURL())
            for origin in [http, https] {
                let client = transport.client { $0.proxy = nowhere }
                await expectError(.proxy, .notSent) { try await client.send(HTTPRequest(origin + "/hello")) }
            }
        }

        @Test(arguments: ConfiguredTransport.allCases, ProxyKind.allCases) func someHostsAreReachedDirectly(
            transport: ConfiguredTransport, kind: ProxyKind
        ) async throws {
            let proxy = try kind.proxy(password: "wrong-password", noProxy: ["localhost", "127.0.0.1"])
            let client = transport.client { $0.proxy = proxy }
            try await Nginx.expectHello(http + "/hello", by: client)
            try await Nginx.expectHello(https + "/hello", by: client)
        }

        // MARK: Limits in time

        @Test(arguments: ConfiguredTransport.allCases) func aConnectionHasToBeMadeInTime(transport: ConfiguredTransport)
            async throws
        {
            let port = try FullPort()
            let client = transport.client { $0.connectTimeout = .milliseconds(30) }
            await expectError(.timeout, .notSent) { try await client.send(HTTPRequest(port.url)) }
        }

        @Test(arguments: ConfiguredTransport.allCases, [Fault.Place.beforeHead, .insideHead]) func aHeadHasToComeInTime(
            transport: ConfiguredTransport, place: Fault.Place
        ) async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { _ in .init(fault: .stall(place)) }
            let client = transport.client { $0.headTimeout = .milliseconds(500) }
            for delivery in Delivery.allCases {
                await expectError(.timeout, .maybeProcessed) {
                    try await delivery.send(HTTPRequest(server.url()), by: client)
                }
            }
        }

        @Test(arguments: ConfiguredTransport.allCases) func aBodyHasToMove(transport: ConfiguredTransport) async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { _ in .init(body: "body", fault: .stall(.insideBody(afterBytes: 2))) }
            let client = transport.client { $0.idleTimeout = .milliseconds(30) }
            for delivery in Delivery.allCases {
                await expectError(.timeout, .answered) { try await delivery.send(HTTPRequest(server.url()), by: client) }
            }
            let silent = try SilentServer()
            await expectError(.timeout, .maybeProcessed) {
                try await client.send(HTTPRequest(.put, silent.url, body: .bytes([UInt8](repeating: 1, count: 32 << 20))))
            }
        }

        @Test(arguments: ConfiguredTransport.allCases)
        func eventsMayBeSilentForTheirOwnLimit(transport: ConfiguredTransport) async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            let (chunks, feed) = AsyncStream.makeStream(of: [UInt8].self)
            server.enqueue(
                .init(headers: [.contentType: "text/event-stream"], body: .once(chunks)),
                .init(body: "body", fault: .stall(.insideBody(afterBytes: 2))), .init(status: .noContent))
            let client = transport.client { $0.idleTimeout = .milliseconds(30) }
            let request = HTTPRequest(server.url())
            var events = client.events(request, silenceLimit: .seconds(86_400)).makeAsyncIterator()
            feed.yield(Array("data: 1\n\n".utf8))
            #expect(try await events.next()?.data == "1")
            // For longer than another body may.
            await expectError(.timeout, .answered) { try await client.send(request) }
            feed.yield(Array("data: 2\n\n".utf8))
            feed.finish()
            #expect(try await events.next()?.data == "2")
        }
    }
#endif
