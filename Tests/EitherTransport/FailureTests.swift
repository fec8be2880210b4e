#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct FailureTests {
        struct Fault: Sendable, CustomTestStringConvertible {
            let answer: String
            let code: HTTPError.Code
            let progress: HTTPError.Phase
            var testDescription: String { String(answer.prefix(60)) }

            init(_ answer: String, _ code: HTTPError.Code, _ progress: HTTPError.Phase = .maybeProcessed) {
                self.answer = answer
                self.code = code
                self.progress = progress
            }
        }

        static let faults = [
            Fault("", .connectionLost),
            Fault("garbage\r\n\r\n", .protocolViolation),
            Fault("HTTP/1.1 200 OK\r\nX-A: ", .connectionLost),
            Fault("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", .protocolViolation),
            Fault("HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "a", count: 400_000))\r\n\r\n", .protocolViolation),
            Fault("HTTP/1.1 200 OK\r\n" + String(repeating: "X-A: b\r\n", count: 60_000) + "\r\n", .protocolViolation),
            Fault("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", .connectionLost, .answered),
            Fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", .connectionLost, .answered),
            Fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", .protocolViolation, .answered),
            Fault("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", .decoding, .answered),
        ]

        @Test(arguments: faults, deliveries)
        func `A server's fault is told by its code`(_ fault: Fault, _ delivery: BodyDelivery) async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write(fault.answer)
            }
            let transport = testedTransport()
            let error = try await #require(throws: HTTPError.self) {
                _ = try await transport.deliver(request(server.url, delivery)).body.collect()
            }
            #expect(error.code == fault.code, "\(error)")
            #expect(error.phase == fault.progress)
        }

        /// Bodies that can't be read to their end, each with what is wrong with it.
        private static let badBodies: [(String, HTTPError.Code)] = [
            ("Content-Length: 10\r\n\r\nabc", .connectionLost),
            ("Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", .protocolViolation),
            ("Content-Length: 20\r\n\r\n01234567890123456789", .bodyTooLarge),
            ("Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", .decoding),
        ]

        @Test(arguments: badBodies)
        func `A 401 is answered whatever is wrong with its body`(_ rest: String, _ code: HTTPError.Code) async throws {
            let server = try RawServer { connection in
                guard let head = connection.readHead() else { return }
                connection.write(head.contains("Bearer new") ? RawServer.okResponse : "HTTP/1.1 401 Unauthorized\r\n\(rest)")
            }
            let configuration = HTTPClient.Configuration(maximumBufferedBody: 10)
            let client = testClient(baseURL: server.url, configuration: configuration, transport: testedTransport()) {
                ClosureHTTPInterceptor { request, next in
                    let response = try await next(request)
                    guard response.status == .unauthorized else { return response }
                    response.body.close()
                    var request = request
                    request.headers[.authorization] = "Bearer new"
                    return try await next(request)
                }
            }
            #expect(try await client.send(HTTPRequest("/")).body.bytes == Array("ok".utf8))
            let plain = testClient(baseURL: server.url, configuration: configuration, transport: testedTransport())
            let error = await httpError { try await plain.send(HTTPRequest("/")) }
            #expect(error?.code == .unacceptableStatus)
            #expect(await httpError { try await error?.response?.body.collect() }?.code == code)
        }

        @Test(arguments: badBodies)
        func `A redirect is followed whatever is wrong with its body`(_ rest: String, _ code: HTTPError.Code) async throws {
            let server = try RawServer { connection in
                guard let head = connection.readHead() else { return }
                connection.write(
                    head.hasPrefix("GET /new ") ? RawServer.okResponse : "HTTP/1.1 302 Found\r\nLocation: /new\r\n\(rest)")
            }
            let client = testClient(
                baseURL: server.url, configuration: .init(maximumBufferedBody: 10), transport: testedTransport())
            var request = HTTPRequest("/old")
            #expect(try await client.send(request).body.bytes == Array("ok".utf8))
            request.redirects = .refuse
            #expect(await httpError { try await client.send(request) }?.code == code)
        }

        @Test(arguments: deliveries)
        func `A redirect whose head is worth nothing isn't followed`(_ delivery: BodyDelivery) async throws {
            let server = try RawServer.answering { _ in "HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 2, 3\r\n\r\nabc"
            }
            let error = await httpError { try await testedTransport().deliver(request(server.url, delivery)) }
            #expect(error?.code == .protocolViolation)
        }

        @Test func `An upload that fails behind an early redirect isn't followed by it`() async throws {
            let (isAnswered, heads) = (Gate(), Locked(0))
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                heads.withLock { $0 += 1 }
                connection.write("HTTP/1.1 303 See Other\r\nLocation: /new\r\nContent-Length: 5\r\n\r\nab")
                isAnswered.open()
                _ = connection.readHead()
            }
            let body = HTTPBody.stream(length: 10) {
                AsyncThrowingStream<[UInt8], any Error> {
                    await isAnswered.wait()
                    throw HTTPError(.bodyUnreadable)
                }
            }
            let client = testClient(transport: testedTransport())
            let error = await httpError { try await client.send(HTTPRequest(.post, server.url, body: body)) }
            #expect(error?.code == .bodyUnreadable && heads.withLock { $0 } == 1)
        }

        @Test func `A refused connection was never a request`() async throws {
            let body = HTTPBody.once([[UInt8]]().stream)
            let error = try await #require(throws: HTTPError.self) {
                try await testedTransport().send(HTTPRequest(.post, "http://127.0.0.1:1", body: body))
            }
            #expect(error.code == .connection)
            #expect(error.phase == .notSent)
            #expect(!body.isSpent)
        }

        @Test func `A failed exchange says how far it came`() async throws {
            let refused = await #expect(throws: HTTPError.self) {
                try await testedTransport().deliver(request("http://127.0.0.1:1", .buffered(upTo: 10)))
            }
            #expect(refused?.metrics?.total != nil)
            #expect(refused?.metrics?.connect == nil)
            let server = try RawServer { connection in _ = connection.readHead() }
            let unanswered = await httpError { try await testedTransport().deliver(request(server.url, .buffered(upTo: 10))) }
            #expect(unanswered?.metrics?.connect != nil)
            #expect(unanswered?.metrics?.firstByte == nil)
            #expect(unanswered?.metrics?.bytesSent ?? 0 > 0)
            let again = HTTPError(.retriesExhausted, underlying: unanswered)
            #expect(again.metrics == unanswered?.metrics)
        }

        @Test func `A name that doesn't exist is told apart`() async throws {
            let error = try await #require(throws: HTTPError.self) {
                try await testedTransport().send(HTTPRequest("http://nowhere.invalid"))
            }
            #expect(error.code == .nameResolution)
            #expect(error.phase == .notSent)
        }

        @Test func `A handshake that fails was never a request`() async throws {
            let server = try RawServer { $0.write("no TLS here\r\n") }
            let error = try await #require(throws: HTTPError.self) {
                try await testedTransport().send(HTTPRequest("https://127.0.0.1:\(server.port)"))
            }
            #expect(error.code == .tls)
            #expect(error.phase == .notSent)
        }

        @Test(arguments: [false, true], [false, true])
        func `A connection that breaks in the handshake is no fault of TLS`(_ isReset: Bool, _ isProxys: Bool) async throws {
            let server = try RawServer { connection in
                _ = connection.readSome()
                if isReset { connection.reset() }
            }
            var configuration = TransportConfiguration()
            configuration.tls.verifiesCertificates = false
            if isProxys { configuration.proxy = .http("https://127.0.0.1:\(server.port)") }
            let transport = testedTransport(configuration: configuration)
            let error = try await #require(throws: HTTPError.self) {
                try await transport.send(HTTPRequest("https://127.0.0.1:\(server.port)"))
            }
            #expect(error.code == (isProxys ? .proxy : .connection), "\(error)")
            #expect(error.phase == .notSent)
        }

        @Test func `A proxy that hangs up on CONNECT is what failed`() async throws {
            let proxy = try RawServer { _ = $0.readHead() }
            let transport = testedTransport(configuration: .init(proxy: .http(proxy.url)))
            let error = await httpError { try await transport.send(HTTPRequest("https://h.invalid/")) }
            #expect(error?.code == .proxy, "\(error as Any)")
            #expect(error?.phase == .notSent)
        }

        @Test(
            arguments: [
                ("socks5h://nohost.invalid:1", .proxy), ("socks5://nohost.invalid:1", .proxy),
                ("ftp://127.0.0.1:1", .unsupported),
            ] as [(String, HTTPError.Code)])
        func `A proxy that can't be met is what failed`(_ address: String, _ code: HTTPError.Code) async throws {
            let transport = testedTransport(configuration: .init(proxy: .http(address)))
            let error = await httpError { try await transport.send(HTTPRequest("http://127.0.0.1:1/")) }
            #expect(error?.code == code, "\(error as Any)")
            #expect(error?.phase == .notSent)
        }

        @Test func `A host that isn't found for a SOCKS proxy is no fault of the proxy's`() async throws {
            let proxy = try RawServer { connection in
                guard let start = connection.read(2), connection.read(Int(start[1])) != nil else { return }
                connection.write([5, 0])
                connection.waitForEnd()
            }
            let transport = testedTransport(configuration: .init(proxy: .socks5("socks5://127.0.0.1:\(proxy.port)")))
            let error = await httpError { try await transport.send(HTTPRequest("http://nohost.invalid/")) }
            #expect(error?.code == .nameResolution, "\(error as Any)")
            #expect(error?.phase == .notSent)
        }

        @Test(arguments: ["connect", "head", "body", "upload"]) func `Each phase has its timeout`(_ phase: String) async throws {
            let server = try RawServer { connection in
                if phase == "body" { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab") }
                connection.waitForHangUp()
            }
            var configuration = TransportConfiguration()
            configuration.connectTimeout = .milliseconds(phase == "connect" ? 50 : 60_000)
            configuration.headTimeout = phase == "head" ? .milliseconds(500) : nil
            configuration.idleTimeout = .milliseconds(phase == "body" || phase == "upload" ? 50 : 60_000)
            // The system's authorities aren't where every build of libcurl looks for them.
            configuration.tls.verifiesCertificates = false
            let transport = testedTransport(configuration: configuration)
            let scheme = phase == "connect" ? "https" : "http"
            let body = HTTPBody.bytes([UInt8](repeating: 0, count: phase == "upload" ? 64 << 20 : 0))
            for delivery in deliveries {
                var request = request("\(scheme)://127.0.0.1:\(server.port)", delivery)
                request.body = body
                let error = try await #require(throws: HTTPError.self) {
                    _ = try await transport.deliver(request).body.collect()
                }
                #expect(error.code == .timeout)
                #expect(error.phase == (phase == "connect" ? .notSent : phase == "body" ? .answered : .maybeProcessed))
            }
        }

        @Test func `A slow reader isn't a stalled server`() async throws {
            let server = try RawServer.answering { _ in
                "HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + String(repeating: "a", count: 2_000_000)
            }
            var configuration = TransportConfiguration()
            // In which a busy machine's server goes on, too.
            configuration.idleTimeout = .seconds(2)
            configuration.eventLoops = 1
            let transport = testedTransport(configuration: configuration)
            let response = try await transport.send(HTTPRequest(server.url))
            // What began later and has stalled ends by the same limit, and with it whatever else the loop finds to be late.
            let stalled = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
                connection.waitForEnd()
            }
            let error = await httpError { try await transport.deliver(request(stalled.url, .buffered(upTo: 10))) }
            #expect(error?.code == .timeout)
            #expect(try await response.body.collect().count == 2_000_000)
        }

        @Test(arguments: deliveries) func `Closing fails what is under way and all that follows`(_ delivery: BodyDelivery)
            async throws
        {
            let arrived = AsyncStream.makeStream(of: Void.self)
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
                arrived.continuation.yield()
                connection.waitForEnd()
            }
            let transport = testedTransport()
            let request = request(server.url, delivery)
            let task = Task { try await transport.deliver(request).body.collect() }
            for await _ in arrived.stream { break }
            transport.close()
            let error = try await #require(throws: HTTPError.self) { _ = try await task.value }
            #expect(error.code == .connection)
            let later = try await #require(throws: HTTPError.self) { _ = try await transport.deliver(request) }
            #expect(later.code == .connection && later.phase == .notSent)
        }

        @Test func `Passwords are in no description`() {
            var configuration = TransportConfiguration()
            configuration.proxy = .http("http://u:s3cret@h:1", credentials: .init(user: "u", password: "s3cret"))
            configuration.tls.clientCertificate = .init(certificate: "c", key: "k", password: "s3cret")
            var dumped = ""
            dump(configuration, to: &dumped)
            #expect(!"\(configuration)\(String(reflecting: configuration))\(dumped)".contains("s3cret"))
        }

        @Test func `Userinfo of a URL isn't in an error's message`() async throws {
            let error = try await #require(throws: HTTPError.self) {
                try await testedTransport().send(HTTPRequest("http://user:s3cret@nowhere.invalid:1/"))
            }
            #expect(!"\(error)".contains("s3cret") && !error.message.contains("s3cret"))
        }

        @Test(arguments: ["http://user:s3/cret@127.0.0.1:1", "http://s3cret:12/3@127.0.0.1:1", "http://s3cret:12?3@127.0.0.1:1"])
        func `Nor is what is in the address of a proxy that isn't one`(address: String) async throws {
            let configuration = TransportConfiguration(proxy: .http(address))
            let error = try await #require(throws: HTTPError.self) {
                try await testedTransport(configuration: configuration).send(HTTPRequest("http://nowhere.invalid/"))
            }
            #expect(error.code == .proxy)
            #expect(!"\(error)".contains("cret") && !error.message.contains("cret"))
        }
    }
#endif
