#if Curl && os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamCurl
    import MidstreamTesting
    import TestSupport
    import Testing

    /// What only the libcurl transport can be told, against nginx and real proxies: HTTP/2, TLS, proxies, sockets, overrides.
    @Suite(.leavesNothing, .enabled(if: Nginx.isRunning), .timeLimit(.minutes(10))) struct CurlConfigurationTests {
        private let http = Nginx.http ?? ""
        private let https = Nginx.https ?? ""

        private func client(
            _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
        ) -> HTTPClient {
            var configuration = CurlTransport.Configuration()
            configuration.tls.authorities = Nginx.authority.map { .file($0) }
            change(&configuration)
            return TransportUnderTest.client(on: curlTransport(configuration: configuration))
        }

        private func expectHello(_ url: String, by client: HTTPClient, _ location: SourceLocation = #_sourceLocation) async throws
        {
            for delivery in Delivery.allCases {
                let received = try await delivery.send(HTTPRequest(url), by: client)
                #expect(received.status == .ok, sourceLocation: location)
                #expect(received.text == "hello\n", sourceLocation: location)
            }
        }

        // MARK: HTTP/2

        @Test func http2IsSpokenOverTLS() async throws {
            let response = try await client().send(HTTPRequest(https + "/10m"))
            #expect(response.version == .http2)
            #expect(response.body.bytes == (try Nginx.file("/10m")))
            let metrics = try #require(response.metrics)
            #expect(metrics.tlsVersion == "TLSv1.3")
            #expect(metrics.tlsHandshake != nil)
        }

        @Test func anotherVersionCanBeAskedFor() async throws {
            let response = try await client { $0.httpVersions = .http1Only }.send(HTTPRequest(https + "/hello"))
            #expect(response.version == .http1_1)
        }

        @Test func manyRequestsShareOneConnection() async throws {
            let client = client()
            let mark = UUID().uuidString
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let delivery: Delivery = number.isMultiple(of: 2) ? .buffered : .streamed
                        let request = HTTPRequest("\(raw: https)/echo-headers?\(mark)", headers: ["X-Test": "\(number)"])
                        let received = try await delivery.send(request, by: client)
                        #expect(received.response.version == .http2)
                        #expect(received.text.hasPrefix("\(number)|"))
                    }
                }
                try await group.waitForAll()
            }
            let lines = try await Nginx.logLines(with: mark, count: 50)
            #expect(lines.count == 50)
            #expect(Set(lines.map { $0[0] }).count == 1)
            #expect(lines.allSatisfy { $0[2] == "HTTP/2.0" })
        }

        @Test(arguments: Delivery.allCases) func anAnswerDuringAnUploadEndsIt(delivery: Delivery) async throws {
            let client = client()
            let bytes = noise(10 << 20)
            let bodies: [HTTPBody] = [
                .bytes(bytes), .stream(length: Int64(bytes.count)) { bytes.pieces(of: 50_000).asynchronous() },
                .stream { bytes.pieces(of: 50_000).asynchronous() },
            ]
            for body in bodies {
                let received = try await delivery.send(HTTPRequest(.post, https + "/small-limit", body: body), by: client)
                #expect(received.response.version == .http2)
                #expect(received.status == 413)
                try await expectHello(https + "/hello", by: client)
            }
        }

        @Test func uploadsAndDownloadsGoSideBySide() async throws {
            let client = client()
            let bytes = noise(3 << 20)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let url = "\(https)/put/\(UUID().uuidString)/file"
                        let body = HTTPBody.stream { bytes.pieces(of: 30_000).asynchronous() }
                        let stored = try await client.send(HTTPRequest(.put, url, body: body))
                        #expect(stored.status == 201)
                        let found = try await Delivery.streamed.send(HTTPRequest(url), by: client)
                        #expect(found.bytes == bytes)
                    }
                }
                try await group.waitForAll()
            }
        }

        /// The end of an upload isn't to touch what has arrived of other responses; libcurl 7.88 overwrites it where they share a
        /// connection.
        @Test(arguments: [false, true]) func uploadsThatEndLeaveWaitingStreamsAlone(areRefused: Bool) async throws {
            let client = client()
            var waiting: [HTTPResponse] = []
            for _ in 0..<4 { waiting.append(try await client.stream(HTTPRequest(https + "/10m"))) }
            let bytes = noise(300_000)
            let body = areRefused ? HTTPBody.bytes(bytes) : .stream { bytes.pieces(of: 30_000).asynchronous() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        let url = https + (areRefused ? "/small-limit" : "/length")
                        let status = try await client.send(HTTPRequest(.post, url, body: body)).status
                        #expect(status == (areRefused ? 413 : .ok))
                    }
                }
                try await group.waitForAll()
            }
            let expected = try Nginx.file("/10m")
            for response in waiting { #expect(try await response.body.collect() == expected) }
        }

        @Test func aStreamThatWaitsForItsReaderLetsOthersPass() async throws {
            let client = client()
            let waiting = try await client.stream(HTTPRequest(https + "/large"))
            for _ in 0..<5 { try await expectHello(https + "/hello", by: client) }
            waiting.body.close()
            try await expectHello(https + "/hello", by: client)
        }

        // MARK: TLS

        @Test func anUnknownAuthorityIsNotTrusted() async {
            let client = client { $0.tls.authorities = nil }
            await expectError(.tls, .notSent) { try await client.send(HTTPRequest(https + "/hello")) }
        }

        @Test func anAuthorityThatCannotBeReadIsAnError() async {
            for authorities in [
                TLSConfiguration.Authorities.file("/nonexistent"), .pem([UInt8]("no certificate")),
            ] {
                let client = client { $0.tls.authorities = authorities }
                await expectError(.tls, .notSent) { try await client.send(HTTPRequest(https + "/hello")) }
            }
        }

        @Test func anAuthorityMayBeInMemory() async throws {
            let pem = Array(try Data(contentsOf: URL(fileURLWithPath: try #require(Nginx.authority))))
            try await expectHello(https + "/hello", by: client { $0.tls.authorities = .pem(pem) })
        }

        @Test func aCertificateHasToBeOfTheHost() async throws {
            let port = try #require(https.split(separator: ":").last)
            let client = client { $0.hostOverrides = ["other.example:\(port)": "127.0.0.1"] }
            await expectError(.tls, .notSent) { try await client.send(HTTPRequest("https://other.example:\(port)/hello")) }
        }

        @Test func verificationCanBeTurnedOff() async throws {
            let client = client {
                $0.tls.authorities = nil
                $0.tls.verifiesCertificates = false
            }
            try await expectHello(https + "/hello", by: client)
        }

        @Test func aPinnedKeyIsDemanded() async throws {
            let pin = try #require(Nginx.pin)
            let wrong = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            try await expectHello(https + "/hello", by: client { $0.tls.pinnedPublicKeys = [pin] })
            try await expectHello(https + "/hello", by: client { $0.tls.pinnedPublicKeys = [wrong, pin] })
            for pins in [[wrong], ["no pin"]] {
                let client = client { $0.tls.pinnedPublicKeys = pins }
                await expectError(.tls, .notSent) { try await client.send(HTTPRequest(https + "/hello")) }
            }
        }

        @Test func aClientCertificateIsShown() async throws {
            let origin = try #require(Nginx.mutualTLS)
            let certificate = TLSConfiguration.ClientCertificate(
                certificate: try #require(Nginx.clientCertificate), key: try #require(Nginx.clientKey))
            try await expectHello(origin + "/hello", by: client { $0.tls.clientCertificate = certificate })
            #expect(try await client().send(HTTPRequest(origin + "/hello")).status == 400)
            let missing = TLSConfiguration.ClientCertificate(certificate: "/nonexistent", key: "/nonexistent")
            let client = client { $0.tls.clientCertificate = missing }
            await expectError(.tls, .notSent) { try await client.send(HTTPRequest(origin + "/hello")) }
        }

        @Test func aClientCertificateMayBePKCS12() async throws {
            let origin = try #require(Nginx.mutualTLS)
            let file = try #require(Nginx.clientPKCS12)
            let certificate = TLSConfiguration.ClientCertificate(pkcs12: file, password: Nginx.clientPassword)
            try await expectHello(origin + "/hello", by: client { $0.tls.clientCertificate = certificate })
            let locked = client { $0.tls.clientCertificate = .init(pkcs12: file, password: "wrong") }
            await expectError(.tls, .notSent) { try await locked.send(HTTPRequest(origin + "/hello")) }
        }

        // MARK: Ways to the server

        @Test func aUnixSocketIsReached() async throws {
            let client = client { $0.unixSocketPath = Nginx.socket }
            try await expectHello("http://any.name/hello", by: client)
            let nowhere = self.client { $0.unixSocketPath = "/nonexistent.sock" }
            await expectError(.connection, .notSent) { try await nowhere.send(HTTPRequest("http://any.name/hello")) }
        }

        @Test func aHostMayBeElsewhere() async throws {
            let port = try #require(http.split(separator: ":").last)
            let client = client { $0.hostOverrides = ["some.example:80": "127.0.0.1:\(port)"] }
            let response = try await client.send(HTTPRequest("http://some.example/echo-headers"))
            #expect(response.body.bytes.map { String(decoding: $0, as: UTF8.self) }?.contains("|some.example|") == true)
        }

        enum ProxyKind: CaseIterable, Sendable {
            case http, socks5

            func proxy(password: String?, noProxy: [String] = []) throws -> CurlTransport.Configuration.Proxy {
                let credentials = try password.map {
                    CurlTransport.Configuration.Credentials(user: try #require(Nginx.proxyUser), password: $0)
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

        @Test(arguments: ProxyKind.allCases) func aProxyForwards(kind: ProxyKind) async throws {
            let proxy = try kind.proxy(password: Nginx.proxyPassword)
            let client = client { $0.proxy = proxy }
            try await expectHello(http + "/hello", by: client)
            try await expectHello(https + "/hello", by: client)
            #expect(try await client.send(HTTPRequest(https + "/hello")).version == .http2)
            let bytes = noise(1 << 20)
            let response = try await client.send(HTTPRequest(.post, https + "/length", body: .bytes(bytes)))
            #expect(response.body.bytes == [UInt8]("\(bytes.count)\n"))
        }

        @Test(arguments: ProxyKind.allCases) func aTunnelNeedsTheRightPassword(kind: ProxyKind) async throws {
            for password in ["wrong-password", nil] {
                let proxy = try kind.proxy(password: password)
                let client = client { $0.proxy = proxy }
                for delivery in Delivery.allCases {
                    let error = await expectError(.proxy, .notSent) {
                        try await delivery.send(HTTPRequest(https + "/hello"), by: client)
                    }
                    #expect(error?.description.contains("wrong-password") == false)
                }
            }
        }

        /// What an HTTP proxy says about a request that it forwards is a response like any other (RFC 9110 §15.5.8).
        @Test func anHTTPProxyAnswersWhatItDoesNotForward() async throws {
            let none = try ProxyKind.http.proxy(password: nil)
            #expect(try await client { $0.proxy = none }.send(HTTPRequest(http + "/hello")).status == 407)
            let wrong = try ProxyKind.http.proxy(password: "wrong-password")
            let status = try await client { $0.proxy = wrong }.send(HTTPRequest(http + "/hello")).status
            #expect(status == 407 || status == 401)
        }

        @Test func aProxyThatIsNotThereIsAProxyError() async throws {
            let nowhere = CurlTransport.Configuration.Proxy.http(try MockServer.refusedURL())
            for origin in [http, https] {
                let client = client { $0.proxy = nowhere }
                await expectError(.proxy, .notSent) { try await client.send(HTTPRequest(origin + "/hello")) }
            }
        }

        @Test(arguments: ProxyKind.allCases) func someHostsAreReachedDirectly(kind: ProxyKind) async throws {
            let proxy = try kind.proxy(password: "wrong-password", noProxy: ["localhost", "127.0.0.1"])
            let client = client { $0.proxy = proxy }
            try await expectHello(http + "/hello", by: client)
            try await expectHello(https + "/hello", by: client)
        }

        // MARK: Limits in time

        @Test func aConnectionHasToBeMadeInTime() async throws {
            let port = try FullPort()
            let client = client { $0.connectTimeout = .milliseconds(30) }
            await expectError(.timeout, .notSent) { try await client.send(HTTPRequest(port.url)) }
        }

        @Test(arguments: [Fault.Place.beforeHead, .insideHead])
        func aHeadHasToComeInTime(place: Fault.Place) async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { _ in .init(fault: .stall(place)) }
            let client = client { $0.headTimeout = .milliseconds(30) }
            for delivery in Delivery.allCases {
                await expectError(.timeout, .maybeProcessed) {
                    try await delivery.send(HTTPRequest(server.url()), by: client)
                }
            }
        }

        @Test func aBodyHasToMove() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { _ in .init(body: "body", fault: .stall(.insideBody(afterBytes: 2))) }
            let client = client { $0.idleTimeout = .milliseconds(30) }
            for delivery in Delivery.allCases {
                await expectError(.timeout, .answered) { try await delivery.send(HTTPRequest(server.url()), by: client) }
            }
            let silent = try SilentServer()
            await expectError(.timeout, .maybeProcessed) {
                try await client.send(HTTPRequest(.put, silent.url, body: .bytes([UInt8](repeating: 1, count: 32 << 20))))
            }
        }
    }
#endif
