import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// What the server takes in, records and refuses.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct MockServerRequestTests {
    /// Sends bytes on a connection of their own and reads up to its end, which the last request has to ask for.
    private func answer(_ server: MockServer, to text: String) async throws -> String {
        let client = try RawClient(port: server.port)
        client.send(text)
        return await client.readAll().text
    }

    @Test func recordsHeadersBodyAndTrailers() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        _ = try await answer(
            server,
            to: """
                POST http://proxied.test/p%20q?a=b+c HTTP/1.1\r\nHost: proxied.test\r\nX-A: 1\r\nx-a:  2 \r\nConnection: close\r\n\
                Transfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX-Sum: 7\r\n\r\n
                """)
        let request = try await server.takeRequest()
        #expect(request.method == .post)
        #expect(request.version == .http1_1)
        #expect(request.target == "http://proxied.test/p%20q?a=b+c")
        #expect(request.path == "/p%20q")
        #expect(request.query("a") == "b+c")
        #expect(request.headers.values("X-A") == ["1", "2"])
        #expect(request.text == "abc0123456789")
        #expect(request.trailers?["x-sum"] == "7")
        #expect((request.connection, request.requestOnConnection) == (1, 1))
        #expect("\(request)" == "POST /p%20q HTTP/1.1 (request 1 on connection 1)")
    }

    @Test func answersPipelinedRequestsInOrder() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { .init(body: .text("[\($0.path) \($0.text)]")) }
        let text = try await answer(
            server,
            to: "\r\n" + get("/1") + "PUT /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
                + get("/3", fields: "Connection: close"))
        #expect(text.split(separator: "[").dropFirst().map { $0.prefix { $0 != "]" } } == ["/1 ", "/2 hi", "/3 "])
        #expect(server.requests.map(\.requestOnConnection) == [1, 2, 3])
        #expect(server.connectionCount == 1)
    }

    @Test func takesRequestsThatArriveByteByByte() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "done"))
        let client = try RawClient(port: server.port)
        for byte in "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n".utf8 {
            client.send([byte])
        }
        #expect(await client.read(until: "done").hasPrefix("HTTP/1.1 200"))
        #expect(server.requests.first?.text == "ab")
    }

    @Test(arguments: [
        ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: a\n\n", 400),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;a\rb\r\na\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;a\0\r\na\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\0b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 400), ("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", 413),
    ])
    func refusesWhatIsNotARequestWithoutRecordingIt(_ text: String, status: Int) async throws {
        let server = try MockServer(limits: .init(maximumBody: 1000))
        defer { server.shutdown() }
        server.enqueue(.init())
        let answer = try await answer(server, to: text)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.contains("Connection: close"))
        #expect(server.requestCount == 0)
    }

    @Test func refusesAHeadThatIsTooLong() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let text = "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 70_000)
        for end in ["", "\r\n\r\n"] { #expect(try await answer(server, to: text + end).hasPrefix("HTTP/1.1 431 ")) }
        #expect(server.requestCount == 0)
    }

    @Test func keepsAsMuchAsTheLimitsSay() async throws {
        let server = try MockServer(limits: .init(keptBody: 4, keptRequests: 2))
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let post = { (text: String, option: String) in
            "POST /\(text) HTTP/1.1\r\nHost: a\r\nConnection: \(option)\r\nContent-Length: 6\r\n\r\n\(text)"
        }
        _ = try await answer(server, to: post("111111", "x") + post("222222", "y") + post("333333", "close"))
        #expect(server.requests.map(\.text) == ["2222", "3333"])
        #expect(server.requests.map(\.bodyLength) == [6, 6])
        #expect(server.requestCount == 3)
        #expect(try await server.takeRequest().path == "/222222")
    }

    @Test func sendsTheExpected100() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "done"))
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(await client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("hi")
        #expect(await client.read(until: "done").hasPrefix("HTTP/1.1 200"))
        #expect(server.requests.first?.text == "hi")
    }

    @Test func answersEarlyInsteadOfAnExpected100() async throws {
        let (text, end) = try await rawExchange(
            .init(status: .contentTooLarge, body: "no", early: true),
            request: "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(text.hasPrefix("HTTP/1.1 413 "))
        #expect(text.contains("Connection: close"))
        #expect(end == .closed)
    }

    @Test func answersBeforeTheBodyIsReadAndGoesOn() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: .ok, body: "early", early: true), .init(body: "next"))
        let client = try RawClient(port: server.port)
        client.send("PUT /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12")
        #expect(await client.read(until: "early").hasSuffix("early"))
        #expect(try await server.takeRequest().body.isEmpty)
        client.send("345" + get("/2"))
        #expect(await client.read(until: "next").hasSuffix("next"))
        #expect(server.requests.map(\.path) == ["/1", "/2"])
    }

    @Test func anEarlyAnswerReachesAClientThatIsStillSending() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: 413, headers: ["Connection": "close"], body: "too large", early: true))
        let file = temporaryPath("upload-\(UUID())")
        try Data(count: 8 << 20).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let result = try await CurlCommand.run(
            "-T", file.path, "-H", "Expect:", "-w", "|%{http_code}", server.url("/"))
        #expect(result.text == "too large|413")
    }

    @Test func waitsForTheNextRequest() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        async let first = server.takeRequest()
        _ = try await answer(server, to: get("/1") + get("/2", fields: "Connection: close"))
        #expect(try await first.path == "/1")
        #expect(try await server.takeRequest().path == "/2")
    }

    @Test func waitingEndsWithCancellationAndWithShutdown() async throws {
        let server = try MockServer()
        let waiting = Task { try await server.takeRequest() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let other = Task { try await server.takeRequest() }
        server.shutdown()
        await #expect(throws: MockServer.Failure.self) { try await other.value }
    }
}
