import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ConnectionTests {
    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func aConnectionServesManyRequests(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        let responses: [MockServer.Response] = [
            .init(body: "with a length"), .init(body: .chunked([[UInt8]("chunked")])), .init(), .init(status: 204),
            .init(status: 304), .init(status: 500, body: "error"), .init(status: 404, body: .chunked([[UInt8]("error")])),
            .init(body: .bytes(noise(1 << 20))), .init(headers: ["Content-Encoding": "gzip"], body: .bytes(EncodedBytes.gzip)),
        ]
        server.enqueue(responses + responses + responses)
        for _ in responses { _ = try await delivery.send(HTTPRequest(server.url()), by: client) }
        for _ in responses { _ = try await delivery.send(HTTPRequest(.head, server.url()), by: client) }
        // Of larger ones the wire takes a refusal for unread.
        for _ in responses {
            _ = try await delivery.send(HTTPRequest(.post, server.url(), body: .bytes(noise(60_000))), by: client)
        }
        try await needing(.oneConnectionForUploads, of: transport) {
            #expect(server.connectionCount == 1)
            #expect(server.requests.map(\.requestOnConnection) == Array(1...27))
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func aConnectionThatTheServerClosesIsNotUsedAgain(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        server.enqueue(
            .init(headers: ["Connection": "close"], body: "1"), .init(body: .bytes([UInt8]("2")), closeDelimited: true),
            .init(body: "3", fault: .disconnect(.afterResponse)), .init(body: "4"))
        for number in 1...4 {
            #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "\(number)")
        }
        #expect(server.connectionCount == 4)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aRequestCanEndItsConnection(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: "answer") }
        let client = transport.client()
        try await needing(.connectionField, of: transport) {
            for _ in 1...2 {
                let request = HTTPRequest(server.url(), headers: ["Connection": "close"])
                let status = try await client.send(request).status
                #expect(status == .ok)
                #expect(try await server.takeRequest().headers[.connection] == "close")
            }
            #expect(server.connectionCount == 2)
        }
    }

    /// RFC 9112 §9.3.1: a kept connection may be closed at any time.
    @Test(arguments: TransportUnderTest.allCases)
    func aKeptConnectionThatDiedIsReplaced(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: "answer") }
        let client = transport.client()
        for _ in 1...5 {
            #expect(try await client.send(HTTPRequest(server.url())).status == .ok)
            server.closeConnections()
            await eventually { server.openConnections <= 0 }
        }
        #expect(server.requestCount == 5)
    }

    /// A kept connection dies under the request: what isn't idempotent may have been processed, so it isn't sent again unasked.
    @Test(arguments: TransportUnderTest.allCases)
    func aPostIsNotSentTwiceUnasked(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in
            request.method == .post ? .init(fault: .disconnect(.beforeHead)) : .init(body: "answer")
        }
        // On Linux a session now and then never ends after this.
        if transport == .urlSession { Belongings.current?.excuse("SessionDelegate") }
        let client = transport.client()
        try await needing(.noUnaskedRepetition, of: transport) {
            _ = try await client.send(HTTPRequest(server.url()))
            await expectError(.connectionLost, .maybeProcessed) {
                try await client.send(HTTPRequest(.post, server.url(), body: .text("order")))
            }
            #expect(server.requests.count { $0.method == .post } == 1)
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func manyRequestsAtATimeGetTheirOwnAnswers(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in .init(headers: ["X-Path": request.path], body: .bytes(request.body)) }
        let client = transport.client()
        let count = 200
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    let bytes = noise(1_000 + number, seed: UInt64(number))
                    let delivery: Delivery = number.isMultiple(of: 2) ? .buffered : .streamed
                    let request = HTTPRequest(.post, server.url("/\(number)"), body: .bytes(bytes))
                    let received = try await delivery.send(request, by: client)
                    #expect(received.headers["X-Path"] == "/\(number)")
                    #expect(received.bytes == bytes)
                }
            }
            try await group.waitForAll()
        }
        #expect(server.requestCount == count)
    }

    // MARK: Bodies that nobody reads to the end

    enum WayToLeave: CaseIterable, Sendable {
        case released, closed, releasedWhileRead, closedWhileRead
    }

    @Test(arguments: TransportUnderTest.allCases, WayToLeave.allCases)
    func aBodyThatIsLeftGivesItsConnectionUp(transport: TransportUnderTest, way: WayToLeave) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let standstill = Standstill()
        server.enqueue(.init(body: standstill.body(after: [[UInt8]("first")])), .init(body: "next"))
        let client = transport.client()
        let standing = standstill.reached
        try await leave(try await client.stream(HTTPRequest(server.url())), by: way, after: standing)
        #expect(try await client.send(HTTPRequest(server.url())).body.bytes == [UInt8]("next"))
        try await needing(.noticeOfLeaving, of: transport) { await standstill.clientLeft.wait() }
    }

    private func leave(_ response: HTTPResponse, by way: WayToLeave, after standing: Event) async throws {
        await standing.wait()
        var body: HTTPBody.AsyncIterator?
        if way == .releasedWhileRead || way == .closedWhileRead {
            body = response.body.makeAsyncIterator()
            #expect(try await body?.next() == [UInt8]("first"))
        }
        if way == .closed || way == .closedWhileRead {
            response.body.close()
            response.body.close()
            await expectError(.connectionLost) { try await response.body.collect() }
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func closingABodyEndsAReadThatWaits(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let standstill = Standstill()
        server.enqueue(.init(body: standstill.body(after: [[UInt8]("first")])))
        let response = try await transport.client().stream(HTTPRequest(server.url()))
        let hasFirst = Event()
        let reading = Task {
            var body = response.body.makeAsyncIterator()
            _ = try await body.next()
            hasFirst.happen()
            return try await body.next()
        }
        await hasFirst.wait()
        await standstill.reached.wait()
        response.body.close()
        await expectError(.connectionLost) { try await reading.value }
        try await needing(.noticeOfLeaving, of: transport) { await standstill.clientLeft.wait() }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyMayBeReadLongAfterItsClientHasGone(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let bytes = noise(3 << 20)
        server.enqueue(.init(body: .bytes(bytes)))
        let response = try await transport.client().stream(HTTPRequest(server.url()))
        #expect(try await response.body.collect() == bytes)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func bodiesThatWaitForTheirReadersDoNotHoldUpOthers(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in .init(body: request.path == "/long" ? .pattern(length: 8 << 20) : "short") }
        let client = transport.client()
        var waiting: [HTTPResponse] = []
        for _ in 0..<5 { waiting.append(try await client.stream(HTTPRequest(server.url("/long")))) }
        for _ in 0..<10 { #expect(try await client.send(HTTPRequest(server.url())).body.bytes == [UInt8]("short")) }
        for response in waiting.reversed() { #expect(try await response.body.collect().count == 8 << 20) }
    }
}
