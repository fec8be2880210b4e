import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct FaultTests {
    typealias Case = (response: MockServer.Response, code: HTTPError.Code, progress: HTTPError.Phase)

    private func expect(_ cases: [Case], on transport: TransportUnderTest, _ delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        for `case` in cases {
            server.enqueue(`case`.response)
            let error = await expectError(`case`.code, `case`.progress) {
                try await delivery.send(HTTPRequest(server.url()), by: client)
            }
            #expect(error?.request != nil)
            #expect(error?.message.isEmpty == false)
        }
        #expect(server.requestCount == cases.count, "Nothing is sent again unasked.")
        server.enqueue(.init(body: "next"))
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "next")
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func aRefusedConnection(transport: TransportUnderTest, delivery: Delivery) async throws {
        let client = transport.client()
        let url = try MockServer.refusedURL("/?token=secret")
        let error = await expectError(.connection, .notSent) { try await delivery.send(HTTPRequest(url), by: client) }
        #expect(error?.description.contains("secret") == false)
        let metrics = try #require(error?.metrics)
        #expect(metrics.total != nil && metrics.firstByte == nil && metrics.isReusedConnection != true)
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func anUnknownName(transport: TransportUnderTest, delivery: Delivery) async {
        let client = transport.client()
        await expectError(.nameResolution, .notSent) {
            try await delivery.send(HTTPRequest("http://nobody.invalid/"), by: client)
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func theConnectionEndsBeforeTheHead(transport: TransportUnderTest, delivery: Delivery) async throws {
        let cases: [Case] = [
            (.init(fault: .disconnect(.beforeHead)), .connectionLost, .maybeProcessed),
            (.init(fault: .reset(.beforeHead)), .connectionLost, .maybeProcessed),
        ]
        for `case` in cases { try await expect([`case`], on: transport, delivery) }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func theConnectionEndsInsideTheHead(transport: TransportUnderTest, delivery: Delivery) async throws {
        try await needing(.endInsideHead, of: transport) {
            try await expect(
                [(.init(headers: ["X-A": "a"], body: "body", fault: .disconnect(.insideHead)), .connectionLost, .maybeProcessed)],
                on: transport, delivery)
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func theConnectionIsResetInsideTheHead(transport: TransportUnderTest, delivery: Delivery) async throws {
        try await expect(
            [(.init(headers: ["X-A": "a"], body: "body", fault: .reset(.insideHead)), .connectionLost, .maybeProcessed)],
            on: transport, delivery)
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func theConnectionEndsAfterAnInterimResponse(transport: TransportUnderTest, delivery: Delivery) async throws {
        try await expect(
            [(.init(fault: .disconnect(.beforeHead), interim: [.init(status: 102)]), .connectionLost, .maybeProcessed)],
            on: transport, delivery)
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func theConnectionEndsInsideTheBody(transport: TransportUnderTest, delivery: Delivery) async throws {
        let bytes = noise(100_000)
        try await expect(
            [
                (.init(body: .bytes(bytes), fault: .disconnect(.insideBody(afterBytes: 50_000))), .connectionLost, .answered),
                (.init(body: .bytes(bytes), fault: .disconnect(.insideBody(afterBytes: 0))), .connectionLost, .answered),
                (.init(body: .bytes(bytes), fault: .reset(.insideBody(afterBytes: 50_000))), .connectionLost, .answered),
                (
                    .init(body: .chunked(bytes.pieces(of: 1_000)), fault: .disconnect(.insideBody(afterBytes: 50_500))),
                    .connectionLost, .answered
                ),
                (
                    .init(body: .chunked(bytes.pieces(of: 1_000)), fault: .disconnect(.insideBody(afterBytes: 100_000))),
                    .connectionLost, .answered
                ),
                (.init(body: .bytes(bytes), fault: .truncatedChunk), .connectionLost, .answered),
                (.init(body: "short", fault: .wrongContentLength(declared: 100)), .connectionLost, .answered),
            ], on: transport, delivery)
    }

    /// What came before the end can be read.
    @Test(arguments: TransportUnderTest.allCases)
    func whatCameBeforeTheEndIsDelivered(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        // A type that nobody has to guess by looking at the first bytes.
        let headers: HTTPHeaders = ["Content-Type": "application/octet-stream"]
        server.enqueue(.init(headers: headers, body: .bytes(noise(1_000)), fault: .disconnect(.insideBody(afterBytes: 500))))
        try await needing(.bytesBeforeAFailure, of: transport) {
            let response = try await transport.client().stream(HTTPRequest(server.url()))
            var received: [UInt8] = []
            await expectError(.connectionLost, .answered) {
                for try await chunk in response.body { received += chunk }
            }
            #expect(received == Array(noise(1_000).prefix(500)))
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func moreThanTheDeclaredLengthIsNotRead(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "hello and more", fault: .wrongContentLength(declared: 5)), .init(body: "next"))
        let client = transport.client()
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "hello")
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "next")
    }

    @Test(
        arguments: TransportUnderTest.allCases,
        [
            "garbage\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "<html>no head at all</html>", "ICY 200 OK\r\n\r\n",
            "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}",
        ])
    func whatIsNoStatusLine(transport: TransportUnderTest, text: String) async throws {
        for delivery in Delivery.allCases {
            try await needing(.strictStatusLine, of: transport) {
                try await expect(
                    [(.init(fault: .garbage([UInt8](text))), .protocolViolation, .maybeProcessed)], on: transport, delivery)
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func aHeadThatIsTooLarge(transport: TransportUnderTest, delivery: Delivery) async throws {
        try await expect(
            [(.init(body: "body", fault: .oversizeHead(bytes: 64 << 20)), .protocolViolation, .maybeProcessed)],
            on: transport, delivery)
    }

    @Test(
        arguments: TransportUnderTest.allCases,
        [
            "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\nhello\r\n",
        ])
    func whatIsNoChunk(transport: TransportUnderTest, rest: String) async throws {
        for delivery in Delivery.allCases {
            try await needing(.strictChunks, of: transport) {
                try await expect(
                    [(.init(fault: .garbage([UInt8]("HTTP/1.1 200 OK\r\n\(rest)"))), .protocolViolation, .answered)],
                    on: transport, delivery)
            }
        }
    }

    /// RFC 9112 §6.3, rule 5.
    @Test(
        arguments: TransportUnderTest.allCases, ["-1", "abc", "99999999999999999999999", "5\r\nContent-Length: 3", "5, 3", ""])
    func aLengthThatIsNone(transport: TransportUnderTest, length: String) async throws {
        for delivery in Delivery.allCases {
            let response = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello"
            try await needing(.strictContentLength, of: transport) {
                try await expect(
                    [(.init(fault: .garbage([UInt8](response))), .protocolViolation, .maybeProcessed)], on: transport, delivery)
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func aSlowAnswerIsReadAllTheSame(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer(clock: ImmediateClock())
        defer { server.shutdown() }
        server.enqueue(
            .init(headers: ["X-A": "a"], body: "byte by byte", fault: .dribble(delay: .milliseconds(1))),
            .init(body: .chunked([[UInt8]("byte"), [UInt8](" by byte")]), fault: .dribble(delay: .milliseconds(1))),
            .init(body: "byte by byte", fault: .throttle(bytesPerSecond: 20)))
        let client = transport.client()
        for _ in 1...3 { #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "byte by byte") }
    }
}
