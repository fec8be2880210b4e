#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTesting
    import MidstreamTransport
    import TestSupport
    import Testing

    /// What goes over HTTP/3 to a server of another make.
    @Suite("HTTP/3", .leavesNothing, .enabled(if: HTTP3.isSpoken), .timeLimit(.minutes(10))) struct HTTP3TransferTests {
        private let origin = HTTP3.origin

        /// The same server at a port at which nobody answers by TCP: one that is slow for the moment would be spoken to by HTTP/2 otherwise.
        private func serverWithoutTCP() throws -> UDPRelay { try UDPRelay() }

        @Test(arguments: [TransportConfiguration.HTTPVersions.http3, .http3Only], Delivery.allCases)
        func `Files arrive unchanged`(versions: TransportConfiguration.HTTPVersions, delivery: Delivery) async throws {
            let server = try serverWithoutTCP()
            let client = HTTP3.client(versions)
            for path in ["/1k", "/10m", "/1k"] {
                let received = try await delivery.send(HTTPRequest(server.origin + path), by: client)
                #expect(received.response.version == .http3)
                #expect(received.bytes == (try Nginx.file(path)))
                #expect(received.headers[.contentLength] == "\(received.bytes.count)")
                #expect(received.response.trace.description.contains("HTTP/3 isn't spoken") == false)
            }
        }

        @Test func `Of two ways HTTP/3 is the first to be tried, and kept`() async throws {
            // Takes connections and says nothing, so that HTTP/2 can't be quicker.
            let silent = try SilentServer()
            let server = try UDPRelay(at: silent.port)
            let client = HTTP3.client(.http3) { $0.headTimeout = .seconds(120) }
            for round in 0..<3 {
                let response = try await client.send(HTTPRequest(server.origin + "/1k"))
                #expect(response.version == .http3)
                #expect(response.metrics?.isReusedConnection == (round > 0))
            }
        }

        @Test func `Where both answer, HTTP/3 is spoken to a server that isn't slow`() async throws {
            var version: HTTPVersion?
            try await eventually(within: .seconds(120)) {
                version = try await HTTP3.client(.http3).send(HTTPRequest(origin + "/1k")).version
                return version == .http3
            }
            #expect(version == .http3)
        }

        @Test func `The connection is measured like others`() async throws {
            let client = HTTP3.client()
            let first = try #require(try await client.send(HTTPRequest(origin + "/1k")).metrics)
            #expect(first.isReusedConnection == false)
            #expect(first.tlsVersion == "TLSv1.3")
            #expect(first.tlsHandshake != nil)
            #expect(first.remotePort == HTTP3.port)
            #expect(first.responseBodyBytes == 1024)
            let second = try #require(try await client.send(HTTPRequest(origin + "/1k")).metrics)
            #expect(second.isReusedConnection == true)
            #expect(second.localPort == first.localPort)
        }

        @Test(arguments: Delivery.allCases) func `Bodies go up`(delivery: Delivery) async throws {
            let client = HTTP3.client()
            let bytes = noise(1 << 20)
            let bodies: [HTTPBody] = [
                .bytes(bytes), .stream(length: Int64(bytes.count)) { bytes.pieces(of: 50_000).asynchronous() },
                .stream { bytes.pieces(of: 50_000).asynchronous() },
            ]
            for body in bodies {
                let url = "\(origin)/put/\(UUID().uuidString)/file"
                let received = try await delivery.send(HTTPRequest(.put, url, body: body), by: client)
                #expect(received.response.version == .http3)
                #expect(received.status == 201)
                #expect(try await delivery.send(HTTPRequest(url), by: client).bytes == bytes)
            }
        }

        @Test func `An end that comes after everything else has arrived is sent`() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.enqueue(.init(body: "answer"))
            let isFirst = FirstTime()
            let body = HTTPBody.once(
                AsyncStream {
                    if isFirst.take() { return [UInt8]("all") }
                    // Nothing tells when libcurl has heard of its arrival, and has nothing to do for the connection.
                    try? await Task.sleep(for: .milliseconds(500))
                    return nil
                })
            let response = try await TransportUnderTest.http3.client().send(HTTPRequest(.put, server.url(), body: body))
            #expect(response.body.text == "answer")
            #expect(try await server.takeRequest().body == [UInt8]("all"))
        }

        @Test func `Twelve requests come over one connection`() async throws {
            let client = HTTP3.client()
            var numbers: Set<String> = []
            for _ in 0..<12 { numbers.insert(try await HTTP3.connection(client)) }
            #expect(numbers.count == 1)
            let counts = await client.transport.statistics
            #expect(counts.openConnections == 1)
            #expect(counts.idleConnections == 1)
        }

        @Test func `Twenty go side by side over one connection`() async throws {
            let client = HTTP3.client()
            let numbers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await HTTP3.connection(client) } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(numbers.count == 1)
        }

        @Test func `A reader that is behind lets others pass, and loses nothing`() async throws {
            let client = HTTP3.client()
            let slow = try await client.stream(HTTPRequest(origin + "/10m"))
            var bytes: [UInt8] = []
            for try await chunk in slow.body {
                bytes += chunk
                #expect(try await client.send(HTTPRequest(origin + "/hello")).body.text == "hello\n")
            }
            #expect(bytes == (try Nginx.file("/10m")))
        }

        @Test func `Those who give up leave the connection to others`() async throws {
            let client = HTTP3.client()
            let number = try await HTTP3.connection(client)
            for _ in 0..<5 {
                let response = try await client.stream(HTTPRequest(origin + "/large"))
                let reading = Task { for try await _ in response.body {} }
                reading.cancel()
                await #expect(throws: CancellationError.self) { try await reading.value }
                let waiting = Task { try await client.send(HTTPRequest("\(origin)/large")) }
                waiting.cancel()
                await #expect(throws: (any Error).self) { try await waiting.value }
            }
            #expect(try await HTTP3.connection(client) == number)
        }

        /// libcurl 7.88 damages streams of HTTP/2 so, for which uploads have connections of their own.
        @Test(arguments: [false, true]) func `Uploads that end leave waiting streams alone`(areRefused: Bool) async throws {
            let client = HTTP3.client()
            var waiting: [HTTPResponse] = []
            for _ in 0..<4 { waiting.append(try await client.stream(HTTPRequest(origin + "/10m"))) }
            let bytes = noise(300_000)
            let body = areRefused ? HTTPBody.bytes(bytes) : .stream { bytes.pieces(of: 30_000).asynchronous() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        let url = HTTP3.origin + (areRefused ? "/small-limit" : "/length")
                        let status = try? await client.send(HTTPRequest(.post, url, body: body)).status
                        // libcurl ends a refused one as if it were whole, for which the server may close the connection.
                        #expect(areRefused ? status == 413 || status == nil : status == .ok)
                    }
                }
                try await group.waitForAll()
            }
            let expected = try Nginx.file("/10m")
            for response in waiting { #expect(try await response.body.collect() == expected) }
        }

        // MARK: Who the server is

        @Test(arguments: [TransportConfiguration.HTTPVersions.http3, .http3Only])
        func `A server has to prove who it is`(versions: TransportConfiguration.HTTPVersions) async throws {
            await expectError(.tls, .notSent) {
                try await HTTP3.client(versions) { $0.tls.authorities = nil }.send(HTTPRequest(HTTP3.origin + "/1k"))
            }
            await expectError(.tls, .notSent) {
                let client = HTTP3.client(versions) { $0.hostOverrides = ["other.test:\(HTTP3.port)": "127.0.0.1"] }
                return try await client.send(HTTPRequest("https://other.test:\(HTTP3.port)/1k"))
            }
            await expectError(.tls, .notSent) {
                let pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
                return try await HTTP3.client(versions) { $0.tls.pinnedPublicKeys = [pin] }.send(
                    HTTPRequest(HTTP3.origin + "/1k"))
            }
            let server = try serverWithoutTCP()
            let trusting = HTTP3.client(versions) {
                $0.tls.authorities = nil
                $0.tls.verifiesCertificates = false
            }
            #expect(try await trusting.send(HTTPRequest(server.origin + "/1k")).version == .http3)
            let pinned = HTTP3.client(versions) { $0.tls.pinnedPublicKeys = [Nginx.pin ?? ""] }
            #expect(try await pinned.send(HTTPRequest(server.origin + "/1k")).version == .http3)
        }

        // MARK: Where connections lead

        @Test(arguments: [TransportConfiguration.HTTPVersions.http3, .http3Only])
        func `Connections lead where they may, and where they are to`(versions: TransportConfiguration.HTTPVersions) async throws
        {
            await expectError(.forbiddenDestination, .notSent) {
                try await HTTP3.client(versions) { $0.destinations = .publicOnly() }.send(HTTPRequest(HTTP3.origin + "/1k"))
            }
            let server = try serverWithoutTCP()
            let redirected = HTTP3.client(versions) { $0.hostOverrides = ["localhost:1": "127.0.0.1:\(server.port)"] }
            #expect(try await redirected.send(HTTPRequest("https://localhost:1/1k")).version == .http3)
            let client = HTTP3.client(versions) { $0.localAddress = "127.0.0.1" }
            var request = HTTPRequest("https://localhost:1/1k")
            request.address = "127.0.0.1:\(server.port)"
            let response = try await client.send(request)
            #expect(response.version == .http3)
            #expect(response.metrics?.localAddress == "127.0.0.1")
        }

        @Test func `http is spoken to as ever, and refused where it must be HTTP/3`() async throws {
            let http = try #require(Nginx.http)
            let response = try await HTTP3.client(.http3).send(HTTPRequest(http + "/1k"))
            #expect(response.version == .http1_1)
            await expectError(.unsupported, .notSent) { try await HTTP3.client(.http3Only).send(HTTPRequest(http + "/1k")) }
        }

        @Test func `A Host field of the request names the authority`() async throws {
            var request = HTTPRequest(origin + "/echo-headers")
            #expect(try await HTTP3.client().send(request).body.text.contains("|localhost:\(HTTP3.port)|"))
            request.headers[.host] = "other.test"
            #expect(try await HTTP3.client().send(request).body.text.contains("|other.test|"))
        }

        // MARK: What ends otherwise

        /// libcurl breaks a connection on which an upload is given up while its body is awaited.
        @Test func `Uploads that are given up harm nobody else`() async throws {
            let client = HTTP3.client()
            let waiting = try await client.stream(HTTPRequest(origin + "/10m"))
            for length in [nil, 10] as [Int64?] {
                for _ in 0..<10 {
                    let body = HTTPBody.stream(length: length) { [[UInt8]("hello")].asynchronous(thenThrowing: Failure()) }
                    await #expect(throws: Failure.self) {
                        try await client.send(HTTPRequest(.put, HTTP3.origin + "/length", body: body))
                    }
                    let whole = HTTPBody.stream { [[UInt8]("hello")].asynchronous() }
                    #expect(try await client.send(HTTPRequest(.put, origin + "/length", body: whole)).body.text == "5\n")
                }
            }
            #expect(try await waiting.body.collect() == (try Nginx.file("/10m")))
        }

        @Test func `A server that breaks the rules, or breaks off, fails the request`() async throws {
            let client = HTTP3.client()
            // libcurl doesn't tell why the connection had to be closed.
            await expectError(.connectionLost) { try await client.send(HTTPRequest(HTTP3.origin + "/-/garbage")) }
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            }
            let through = TransportUnderTest.client(on: HTTP3Gateway())
            await expectError(.connectionLost, .answered) { try await through.send(HTTPRequest(server.url)) }
        }

        @Test func `A server that is going away gets no more requests on that connection`() async throws {
            let client = HTTP3.client()
            let number = try await client.send(HTTPRequest(origin + "/-/goaway")).body.text
            await eventually(within: .seconds(120)) { (try? await HTTP3.connection(client)) != number }
            #expect(try await HTTP3.connection(client) != number)
        }

        @Test func `A request that was broken off is retried`() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.enqueue(.init(fault: .disconnect(.beforeHead)))
            server.enqueue(.init(body: "whole"))
            let client = testClient(configuration: .init(maxRetries: 1), transport: HTTP3Gateway())
            let response = try await client.send(HTTPRequest(server.url("/")))
            #expect(response.body.text == "whole")
            #expect(response.version == .http3)
            #expect(server.requestCount == 2)
        }

        @Test func `A redirect leads from HTTP/2 to HTTP/3`() async throws {
            let h2 = try #require(Nginx.mutualTLS)
            let configuration = HTTP3.configuration(.http3) {
                $0.tls.clientCertificate = .init(certificate: Nginx.clientCertificate ?? "", key: Nginx.clientKey ?? "")
            }
            let server = try serverWithoutTCP()
            let client = testClient(transport: curlTransport(configuration: configuration))
            #expect(try await client.send(HTTPRequest(h2 + "/hello")).version == .http2)
            let response = try await client.send(HTTPRequest("\(raw: h2)/elsewhere?\(raw: server.origin)/hello"))
            #expect(response.url.port == server.port)
            #expect(response.body.text == "hello\n")
            #expect(response.version == .http3)
        }

        // MARK: What doesn't carry it

        @Test func `Proxies and unix domain sockets don't carry it`() async throws {
            let proxy = TransportConfiguration.Proxy.http(try #require(Nginx.openHTTPProxy))
            let response = try await HTTP3.client(.http3) { $0.proxy = proxy }.send(HTTPRequest(origin + "/1k"))
            #expect(response.version == .http2)
            #expect(response.trace.description.contains("HTTP/3 isn't spoken: proxies are configured"))
            await expectError(.unsupported, .notSent) {
                try await HTTP3.client { $0.proxy = proxy }.send(HTTPRequest(HTTP3.origin + "/1k"))
            }
            await expectError(.unsupported, .notSent) {
                try await HTTP3.client { $0.unixSocketPath = Nginx.socket }.send(HTTPRequest(HTTP3.origin + "/1k"))
            }
        }
    }
#endif
