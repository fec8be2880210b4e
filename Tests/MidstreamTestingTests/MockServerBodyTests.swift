import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Bodies, framing and heads of responses, as the bytes on the wire show them and as curl reads them.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct MockServerBodyTests {
    typealias Body = HTTPBody

    private func raw(
        _ response: MockServer.Response, request: String = get(fields: "Connection: close")
    ) async throws -> (head: String, body: String) {
        split(try await rawExchange(response, request: request).text)
    }

    @Test func sendsTheHeadAsGiven() async throws {
        let (head, body) = try await raw(
            .init(status: 299, headers: ["Set-Cookie": "a=1", "x-UPPER": "é", "Set-Cookie": "b=2"], reason: "Fine"))
        #expect(
            head == """
                HTTP/1.1 299 Fine\r\nSet-Cookie: a=1\r\nx-UPPER: é\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\nConnection: close
                """)
        #expect(body.isEmpty)
    }

    @Test func sendsTextJSONAndBytes() async throws {
        let text = try await raw(.init(body: .text("grüß")))
        #expect(text.head.contains("Content-Type: text/plain; charset=utf-8\r\n"))
        #expect(text.head.contains("Content-Length: 6\r\n"))
        #expect(text.body == "grüß")
        let json = try await raw(.init(body: try .json(["a": 1])))
        #expect(json.head.contains("Content-Type: application/json\r\n"))
        #expect(json.body == #"{"a":1}"#)
        let own = try await raw(.init(headers: ["Content-Type": "application/problem+json"], body: .json(text: "{}")))
        #expect(own.head.contains("problem+json") && !own.head.contains("application/json"))
        let bytes = try await raw(.init(body: .bytes([65, 66])))
        #expect(!bytes.head.contains("Content-Type"))
        #expect(bytes.body == "AB")
    }

    @Test func sendsChunksAndTrailers() async throws {
        let (head, body) = try await raw(
            .init(body: .chunked([Array("ab".utf8), [], Array("c".utf8)]), trailers: ["X-Sum": "1", "X-Two": "2"]))
        #expect(head.contains("Transfer-Encoding: chunked"))
        #expect(!head.contains("Content-Length"))
        #expect(body == "2\r\nab\r\n1\r\nc\r\n0\r\nX-Sum: 1\r\nX-Two: 2\r\n\r\n")
        #expect(try await raw(.init(body: "ab", trailers: [:])).body == "2\r\nab\r\n0\r\n\r\n")
        #expect(
            try await raw(.init(headers: ["Transfer-Encoding": "chunked"], body: "ab")).body == "2\r\nab\r\n0\r\n\r\n")
    }

    @Test func closeDelimitsTheBody() async throws {
        let (head, body) = try await raw(.init(body: .bytes(Array("ab".utf8)), closeDelimited: true), request: get())
        #expect(head == "HTTP/1.1 200 OK\r\nConnection: close")
        #expect(body == "ab")
    }

    @Test func doesNotChunkForHTTP10() async throws {
        let (head, body) = try await raw(
            .init(body: .chunked([Array("ab".utf8)]), interim: [.continue]), request: "GET / HTTP/1.0\r\n\r\n")
        #expect(head == "HTTP/1.1 200 OK\r\nConnection: close")
        #expect(body == "ab")
        let old = try await raw(.init(body: "ab", version: .http1_0), request: get())
        #expect(old.head.hasPrefix("HTTP/1.0 200 OK\r\n"))
        #expect(old.head.hasSuffix("Connection: close"))
    }

    @Test func keepsAnHTTP10ConnectionWhenAsked() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "ab"), .init(body: "cd"))
        let client = try RawClient(port: server.port)
        let request = "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"
        client.send(request)
        #expect(await client.read(until: "ab").contains("Connection: keep-alive"))
        client.send(request)
        #expect(await client.read(until: "cd").hasSuffix("cd"))
    }

    @Test func sendsNoBodyWhereNoneIsAllowed() async throws {
        let head = try await raw(.init(body: "abc"), request: "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(head.head.contains("Content-Type: text/plain; charset=utf-8\r\nContent-Length: 3"))
        #expect(head.body.isEmpty)
        for status in [204, 304] as [HTTPStatus] {
            let (head, body) = try await raw(.init(status: status, body: "abc"))
            #expect(!head.contains("Content-"))
            #expect(body.isEmpty)
        }
    }

    @Test func sendsAGivenLengthAndClosesWhenItIsWrong() async throws {
        let (head, body) = try await raw(.init(headers: ["Content-Length": "5"], body: "abc"), request: get())
        #expect(head.contains("Content-Length: 5"))
        #expect(body == "abc")
    }

    @Test func sendsAGivenLengthInPlaceOfChunks() async throws {
        let (head, body) = try await raw(
            .init(headers: ["Content-Length": "5"], body: .chunked([Array("he".utf8), Array("llo".utf8)])), request: get())
        #expect(head == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close")
        #expect(body == "hello")
    }

    @Test func producesSoManyBytes() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let length = 300_001
        server.enqueue(
            .init(body: .pattern(length: length)),
            .init(headers: ["Transfer-Encoding": "chunked"], body: .pattern(length: length)), .init(body: .pattern(length: 0)))
        for _ in 0..<2 {
            let bytes = try await CurlCommand.run(server.url("/")).output
            #expect(bytes.count == length)
            #expect(bytes.indices.allSatisfy { bytes[$0] == MockServer.patternByte(at: $0) })
        }
        #expect(try await CurlCommand.run(server.url("/")).output.isEmpty)
    }

    @Test func producesWithoutEndUntilTheClientLeaves() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: .pattern(length: nil)))
        let client = try RawClient(port: server.port)
        client.send(get())
        #expect(await client.read(atLeast: 1_000_000).count >= 1_000_000)
        client.leave()
        await eventually { server.openConnections == 0 }
    }

    @Test func sendsChunksWhenTheTestProducesThem() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let (chunks, source) = AsyncStream.makeStream(of: [UInt8].self)
        server.enqueue(.init(body: .once(chunks)))
        let client = try RawClient(port: server.port)
        client.send(get())
        for text in ["abc", "de"] {
            source.yield(Array(text.utf8))
            #expect(await client.read(until: "\(text)\r\n").hasSuffix("\(text.count)\r\n\(text)\r\n"))
        }
        source.finish()
        #expect(await client.read(until: "0\r\n\r\n") == "0\r\n\r\n")
    }

    @Test func breaksOffWhenTheProducerFails() async throws {
        struct Broken: Error {}
        let server = try MockServer()
        defer { server.shutdown() }
        let (chunks, source) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        server.enqueue(.init(body: .once(chunks)))
        let client = try RawClient(port: server.port)
        client.send(get())
        source.yield([65])
        source.finish(throwing: Broken())
        let (text, _) = await client.readAll()
        #expect(split(text).body == "1\r\nA\r\n")
    }

    @Test("a body that isn't as long as the head says ends the connection", arguments: [(1, 5), (3, 10)])
    func breaksItsLength(chunks: Int, sent: Int) async throws {
        let chunk = Array("abcde".utf8)
        let (text, end) = try await rawExchange(
            .init(body: .once(HTTPBody.chunked(Array(repeating: chunk, count: chunks)), length: 10)), .init(body: "next"),
            request: get() + get(fields: "Connection: close"))
        #expect(split(text).head.contains("Content-Length: 10"))
        #expect(split(text).body == "abcdeabcde".prefix(sent))
        #expect(end == .closed)
    }

    @Test func sendsInterimResponsesBeforeTheDelay() async throws {
        let clock = TestClock()
        let server = try MockServer(clock: clock)
        defer { server.shutdown() }
        server.enqueue(
            .init(body: "x", delay: .seconds(5), interim: [.init(status: 102), .earlyHints(links: ["</a>", "</b>"])]))
        let client = try RawClient(port: server.port)
        client.send(get())
        let interim = await client.read(until: "</b>\r\n\r\n")
        #expect(
            interim
                == "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n")
        await clock.waitForSleepers(1)
        #expect(clock.nextDeadline == .init(offset: .seconds(5)))
        clock.advance(by: .seconds(5))
        #expect(await client.read(until: "x").hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func saysWhenAHeaderCannotBeSent() async throws {
        let (head, body) = try await raw(.init(headers: ["X-Bad": "a\r\nb"]))
        #expect(head.hasPrefix("HTTP/1.1 500 "))
        #expect(body.contains("X-Bad"))
    }
}
