#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// What libcurl does by default, or does wrong, and the transport doesn't.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct PitfallTests {
        let transport = testedTransport()

        @Test func `Plain HTTP requests don't wait for each other`() async throws {
            let barrier = Barrier(8)
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                // Nobody is answered before all have asked: serialised requests would wait for ever.
                barrier.arriveAndWait()
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                connection.waitForEnd()
            }
            try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                for _ in 0..<8 { group.addTask { try await transport.deliver(HTTPRequest(server.url)).status } }
                for try await status in group { #expect(status == 204) }
            }
        }

        @Test(arguments: deliveries)
        func `An early response is delivered though the body is never read`(_ delivery: BodyDelivery) async throws {
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
                connection.waitForHangUp()
            }
            var request = request(server.url, delivery)
            request.method = .post
            let endless = AsyncStream<[UInt8]> { [UInt8](repeating: 0, count: 1 << 20) }
            for body in [HTTPBody.bytes([UInt8](repeating: 0, count: 64 << 20)), .once(endless)] {
                request.body = body
                let response = try await transport.deliver(request)
                #expect(try await response.body.collect() == Array("early".utf8))
            }
        }

        @Test func `The environment's proxy isn't used unless asked for`() async throws {
            await #expect(processExitsWith: .success) {
                let server = try RawServer.answering { "HTTP/1.1 200 OK\r\nX-Line: \($0.lines[0])\r\nContent-Length: 0\r\n\r\n" }
                setenv("http_proxy", server.url, 1)
                setenv("all_proxy", server.url, 1)
                let direct = try await testedTransport().send(HTTPRequest("\(raw: server.url)/a"))
                #expect(direct.headers["X-Line"] == "GET /a HTTP/1.1")
                var configuration = TransportConfiguration()
                configuration.proxy = .environment
                let response = try await testedTransport(configuration: configuration).send(HTTPRequest("http://x.invalid/b"))
                #expect(response.headers["X-Line"] == "GET http://x.invalid/b HTTP/1.1")
            }
        }

        @Test func `Of a password in the environment's proxy that ends the host, nothing is asked for or shown`() async throws {
            await #expect(processExitsWith: .success) {
                for (name, address) in [
                    ("http_proxy", "http://s3cret:12/3@127.0.0.1:1"), ("https_proxy", "http://s3cret:12/3@127.0.0.1:1"),
                    ("http_proxy", "http://u:s3cret@127.0.0.1:0x1"),
                ] {
                    setenv(name, address, 1)
                    let configuration = TransportConfiguration(proxy: .environment)
                    let error = try await #require(throws: HTTPError.self) {
                        try await testedTransport(configuration: configuration).send(HTTPRequest("http://nowhere.invalid/"))
                    }
                    #expect(error.code == .proxy && error.phase == .notSent)
                    #expect(!"\(error)".contains("s3cret") && !error.message.contains("s3cret"))
                    unsetenv(name)
                }
            }
        }

        @Test func `Redirects aren't followed`() async throws {
            let server = try RawServer.answering { _ in "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n" }
            #expect(try await transport.deliver(HTTPRequest(server.url)).headers[.location] == "/b")
        }

        @Test(arguments: [
            "file:///etc/passwd", "ftp://h/", "gopher://h", "", "x", "http://", "http://a b/", "http://h/\r\nX: y",
            "http://h:99999999/",
        ])
        func `What isn't http or https is refused`(_ url: String) async throws {
            let error = try await #require(throws: HTTPError.self) { try await transport.deliver(HTTPRequest(url)) }
            #expect(error.code == .invalidRequest)
            #expect(error.phase == .notSent)
        }

        @Test func `Only the given fields are sent, in order`() async throws {
            let server = try RawServer.answering {
                "HTTP/1.1 200 OK\r\nContent-Length: \($0.head.utf8.count)\r\n\r\n\($0.head)"
            }
            let headers: HTTPHeaders = ["X-B": "1", "X-A": "", "x-b": "2", "X-C": "é;", "Host": "other"]
            func head(_ request: HTTPRequest) async throws -> [String] {
                let body = try await transport.deliver(request).body.collect()
                return String(decoding: body, as: UTF8.self).components(separatedBy: "\r\n")
            }
            let fields = ["Accept-Encoding: gzip, br", "X-B: 1", "X-A:", "x-b: 2", "X-C: é;"]
            #expect(
                try await head(HTTPRequest("\(raw: server.url)/a?b", headers: headers)) == ["GET /a?b HTTP/1.1", "Host: other"]
                    + fields)
            let large = HTTPBody.bytes([UInt8](repeating: 1, count: 3 << 20))
            let lines = try await head(HTTPRequest(.post, server.url, headers: headers, body: large))
            #expect(Set(lines) == Set(["POST / HTTP/1.1", "Host: other", "Content-Length: \(3 << 20)"] + fields))
            let typed = try await head(HTTPRequest(.put, server.url, body: .text("a")))
            #expect(typed.contains("Content-Type: text/plain; charset=utf-8"))
            #expect(try await head(HTTPRequest(.post, server.url)).contains("Content-Length: 0"))
        }

        @Test func `The user's Expect is sent`() async throws {
            let server = try RawServer { connection in
                guard let head = connection.readHead() else { return }
                connection.write("HTTP/1.1 100 Continue\r\n\r\n")
                _ = connection.read(3)
                connection.write(
                    "HTTP/1.1 200 OK\r\nX-Expect: \(head.contains("Expect: 100-continue"))\r\nContent-Length: 0\r\n\r\n")
            }
            let request = HTTPRequest(.post, server.url, headers: ["Expect": "100-continue"], body: .bytes([1, 2, 3]))
            #expect(try await transport.deliver(request).headers["X-Expect"] == "true")
        }

        @Test(arguments: deliveries)
        func `Interim responses are passed over and trailers kept apart`(_ delivery: BodyDelivery) async throws {
            let server = try RawServer.answering { _ in
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 9\r\nX-Sum: 8\r\n\r\n"
            }
            let response = try await transport.deliver(request(server.url, delivery))
            #expect(response.status == 200)
            #expect(!response.headers.contains(.link))
            #expect(response.headers["X-A"] == "1")
            #expect(try await response.body.collect() == Array("abc".utf8))
            #expect(response.trailers?.values("X-Sum") == ["9", "8"])
            #expect(!response.headers.contains("X-Sum"))
        }

        @Test(arguments: deliveries) func `A decoded body loses the fields about its encoding`(_ delivery: BodyDelivery)
            async throws
        {
            let zipped: [UInt8] = [
                31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
            ]
            let server = try RawServer { connection in
                while let head = connection.readHead() {
                    connection.write(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-Asked: \(head.contains("gzip"))\r\n"
                            + "Content-Length: \(zipped.count)\r\n\r\n")
                    if !head.hasPrefix("HEAD") { connection.write(zipped) }
                }
            }
            let decoded = try await transport.deliver(request(server.url, delivery))
            #expect(try await decoded.body.collect() == Array("hello".utf8))
            #expect(decoded.headers["X-Asked"] == "true")
            #expect(!decoded.headers.contains(.contentEncoding) && !decoded.headers.contains(.contentLength))

            var raw = request(server.url, delivery)
            raw.headers[.acceptEncoding] = "gzip"
            let undecoded = try await transport.deliver(raw)
            #expect(try await undecoded.body.collect() == zipped)
            #expect(undecoded.headers[.contentEncoding] == "gzip")

            var head = request(server.url, delivery)
            head.method = .head
            #expect(try await transport.deliver(head).headers[.contentLength] == "\(zipped.count)")

            let error = try await #require(throws: HTTPError.self) {
                try await transport.deliver(request(server.url, .buffered(upTo: 4)))
            }
            #expect(error.code == .bodyTooLarge)
        }

        @Test func `A tunnel that the proxy refuses was never a request`() async throws {
            let proxy = try RawServer.answering { _ in
                "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
            }
            var configuration = TransportConfiguration()
            configuration.proxy = .http(proxy.url, credentials: .init(user: "u", password: "s3cret"))
            let error = try await #require(throws: HTTPError.self) {
                try await testedTransport(configuration: configuration).send(HTTPRequest("https://h.invalid/"))
            }
            #expect(error.code == .proxy)
            #expect(error.phase == .notSent)
            #expect(!"\(error) \(configuration)".contains("s3cret"))
        }

        /// libcurl sends again what a kept connection has died under, and the proxy takes no other connection.
        @Test func `A request that a proxy has got may have been processed, also when the proxy is gone`() async throws {
            let isRead = Suspension<Void>()
            let proxy = try RawServer { connection in
                defer { isRead.resume() }
                guard connection.readRequest() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                guard connection.readRequest() != nil else { return }
                isRead.resume()
                connection.waitForEnd()
            }
            let transport = testedTransport(configuration: TransportConfiguration(proxy: .http(proxy.url)))
            let request = HTTPRequest(.post, "http://h.invalid/", body: .bytes([1]))
            _ = try await transport.deliver(request)
            async let error = httpError { try await transport.deliver(request) }
            await isRead.value()
            try proxy.stop()
            #expect(await error?.phase == .maybeProcessed)
            #expect(proxy.accepted == 1)
        }

        @Test func `A request that may not be repeated isn't, on a kept connection that dies`() async throws {
            let seen = Locked<[String]>([])
            let server = try RawServer { connection in
                var isFirst = true
                while let request = connection.readRequest() {
                    seen.withLock { $0.append(request.lines[0]) }
                    guard isFirst || seen.withLock({ $0.count > 4 }) else { return }
                    isFirst = false
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                }
            }
            _ = try await transport.deliver(HTTPRequest("\(raw: server.url)/1"))
            let error = try await #require(throws: HTTPError.self) {
                try await transport.deliver(HTTPRequest(.post, "\(raw: server.url)/2", body: .bytes([1])))
            }
            #expect(error.code == .connectionLost)
            #expect(error.phase == .maybeProcessed)
            _ = try await transport.deliver(HTTPRequest("\(raw: server.url)/3"))
            _ = try await transport.deliver(HTTPRequest("\(raw: server.url)/4"))
            #expect(
                seen.withLock { $0 } == [
                    "GET /1 HTTP/1.1", "POST /2 HTTP/1.1", "GET /3 HTTP/1.1", "GET /4 HTTP/1.1", "GET /4 HTTP/1.1",
                ])
        }
    }

    /// Lets nobody pass before all have arrived.
    final class Barrier: Sendable {
        private let missing: Locked<Int>
        private let gate = DispatchSemaphore(value: 0)

        init(_ count: Int) { missing = Locked(count) }

        func arriveAndWait() {
            let isLast = missing.withLock { missing in
                missing -= 1
                return missing == 0
            }
            if !isLast { gate.wait() }
            gate.signal()
        }
    }
#endif
