import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Each fault as the bytes on the wire show it.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct MockServerFaultTests {
    private func exchange(
        _ fault: Fault, body: HTTPBody = "0123456789", headers: HTTPHeaders = [:]
    ) async throws -> (text: String, end: RawClient.End) {
        try await rawExchange(.init(headers: headers, body: body, fault: fault), request: get())
    }

    @Test func disconnectsBeforeTheHead() async throws {
        let (text, end) = try await exchange(.disconnect(.beforeHead))
        #expect(text.isEmpty)
        #expect(end == .closed)
    }

    @Test func disconnectsInsideTheHead() async throws {
        let (text, end) = try await exchange(.disconnect(.insideHead))
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(!text.contains("\r\n\r\n"))
        #expect(end == .closed)
    }

    @Test(arguments: [0, 4, 10]) func disconnectsInsideTheBody(after count: Int) async throws {
        let (text, end) = try await exchange(.disconnect(.insideBody(afterBytes: count)))
        #expect(split(text).head.contains("Content-Length: 10"))
        #expect(split(text).body == "0123456789".prefix(count))
        #expect(end == .closed)
    }

    @Test func answersWithAStatusInPlaceOfTheResponse() async throws {
        let replaced = MockServer.Response(
            headers: ["X-A": "1"], body: "body", fault: .status(503), trailers: ["X-B": "2"], closeDelimited: true,
            reason: "Fine")
        let (text, _) = try await rawExchange(replaced)
        #expect(text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n") && text.hasSuffix("\r\n\r\n"), "\(text)")
        #expect(text.contains("Content-Length: 0\r\n") && !text.contains("Transfer-Encoding") && !text.contains("X-"))
    }

    @Test func failsAsACodeSays() async throws {
        #expect(try await exchange(.error(.connectionLost)).text.isEmpty)
        #expect(try await exchange(.error(.protocolViolation)).text == "no HTTP\r\n\r\n")
    }

    @Test func delaysByItsClock() async throws {
        let clock = TestClock()
        let server = try MockServer(clock: clock)
        defer { server.shutdown() }
        server.enqueue(.init(body: "late", fault: .delay(.constant(.seconds(60)))))
        let client = try RawClient(port: server.port)
        client.send(get(fields: "Connection: close"))
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(await client.readAll().text.hasSuffix("late"))
    }

    @Test("A fault that can't be carried out is refused, with a reason")
    func refused() async throws {
        let cases: [(MockServer.Response, String)] = [
            (.init(body: "ab", fault: .disconnect(.insideBody(afterBytes: 3))), "after 3 bytes of its body, which has 2"),
            (.init(body: .chunked([[1], [2]]).withLength(2), fault: .stall(.insideBody(afterBytes: 3))), "which has 2"),
            (.init(fault: .reset(.insideBody(afterBytes: 1))), "which has 0"),
            (.init(status: 204, body: "ab", fault: .reset(.insideBody(afterBytes: 1))), "which has 0"),
            (.init(body: "ab", fault: .reset(.insideBody(afterBytes: -1))), "after -1 bytes"),
            (.init(status: 304, fault: .truncatedChunk), "chunked body, which it hasn't"),
            (.init(headers: ["Content-Length": "2"], body: "ab", fault: .truncatedChunk), "has a length, and trailers or"),
            (.init(headers: ["Content-Length": "2"], body: "ab", trailers: ["X": "y"]), "has a length, and trailers or"),
            (.init(body: "ab", fault: .wrongContentLength(declared: 3), trailers: ["X": "y"]), "has a length, and trailers or"),
            (.init(fault: .error(.nameResolution)), "a server can't bring about: nameResolution"),
        ]
        for (response, reason) in cases {
            let (text, end) = try await rawExchange(response)
            #expect(text.hasPrefix("HTTP/1.1 500 ") && text.contains(reason) && end == .closed, "\(text)")
        }
    }

    @Test(
        "A fault strikes what agrees to a socket as any other response",
        arguments: [
            (.disconnect(.beforeHead), ""), (.disconnect(.insideHead), "HTTP/1.1 101 "),
            (.disconnect(.afterResponse), "HTTP/1.1 101 "), (.status(503), "HTTP/1.1 503 "),
            (.error(.protocolViolation), "no HTTP"), (.disconnect(.insideBody(afterBytes: 3)), "HTTP/1.1 500 "),
            (.wrongContentLength(declared: 3), "HTTP/1.1 500 "),
        ] as [(Fault, String)])
    func strikesAgreements(fault: Fault, beginning: String) async throws {
        var response = MockServer.Response.webSocket { try await $0.send("served") }
        response.fault = fault
        let (text, _) = try await rawExchange(response, request: upgrade)
        #expect(text.hasPrefix(beginning) && text.isEmpty == beginning.isEmpty && !text.hasSuffix("served"), "\(text)")
    }

    @Test("What would agree to a socket agrees to none with another status than 101")
    func statusOfAgreements() async throws {
        var response = MockServer.Response.webSocket { try await $0.send("served") }
        response.status = .ok
        let (text, _) = try await rawExchange(response, request: upgrade)
        #expect(text.hasPrefix("HTTP/1.1 200 ") && !text.contains("served"), "\(text)")
    }

    @Test("What agrees to a socket comes early, late, and after interim responses as any other response")
    func delaysAgreements() async throws {
        let clock = TestClock()
        let server = try MockServer(clock: clock)
        defer { server.shutdown() }
        var response = MockServer.Response.webSocket { try await $0.send("served") }
        (response.early, response.delay, response.interim) = (true, .seconds(30), [.earlyHints(links: ["</a>"])])
        server.enqueue(response)
        let client = try RawClient(port: server.port)
        client.send(upgrade)
        #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 103 "))
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        let (text, _) = await client.readAll()
        #expect(text.hasPrefix("HTTP/1.1 101 ") && text.contains("Sec-WebSocket-Accept: ") && text.hasSuffix("served"), "\(text)")
    }

    /// Asks for a socket, and for the end of the connection after any other answer.
    private let upgrade = get(fields: "Connection: close, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x")

    @Test func disconnectsInsideAChunk() async throws {
        let body = HTTPBody.chunked([Array("abc".utf8), Array("defgh".utf8)])
        let (text, _) = try await exchange(.disconnect(.insideBody(afterBytes: 5)), body: body)
        #expect(split(text).body == "3\r\nabc\r\n5\r\nde")
        let (whole, _) = try await exchange(.disconnect(.insideBody(afterBytes: 8)), body: body)
        #expect(split(whole).body == "3\r\nabc\r\n5\r\ndefgh\r\n")
    }

    @Test func disconnectsAfterAResponseThatDidNotSaySo() async throws {
        let (text, end) = try await exchange(.disconnect(.afterResponse))
        #expect(split(text).body == "0123456789")
        #expect(!text.contains("Connection"))
        #expect(end == .closed)
    }

    @Test func resets() async throws {
        for place in [Fault.Place.beforeHead, .insideHead, .insideBody(afterBytes: 3)] {
            #expect(try await exchange(.reset(place)).end == .reset)
        }
    }

    @Test func stallsUntilTheClientLeaves() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        for place in [Fault.Place.insideHead, .insideBody(afterBytes: 4)] {
            server.enqueue(.init(body: "0123456789", fault: .stall(place)))
            let client = try RawClient(port: server.port)
            client.send(get())
            #expect(await client.read(atLeast: 1).starts(with: "HTTP/1.1".utf8))
            #expect(server.openConnections == 1)
            client.leave()
            await eventually { server.openConnections == 0 }
        }
    }

    @Test func stallsBeforeTheHeadUntilShutdown() async throws {
        let server = try MockServer()
        server.enqueue(.init(fault: .stall(.beforeHead)))
        let client = try RawClient(port: server.port)
        client.send(get())
        _ = try await server.takeRequest()
        server.shutdown()
        #expect(await client.readAll().text.isEmpty)
    }

    @Test func throttlesByTheClock() async throws {
        let clock = TestClock()
        let server = try MockServer(clock: clock)
        defer { server.shutdown() }
        server.enqueue(.init(body: .bytes([UInt8](repeating: 65, count: 25)), fault: .throttle(bytesPerSecond: 100)))
        let client = try RawClient(port: server.port)
        client.send(get())
        let head = await client.read(until: "\r\n\r\nAAAAAAAAAA")
        #expect(head.hasSuffix("\r\n\r\nAAAAAAAAAA"))
        await clock.waitForSleepers(1)
        #expect(clock.nextDeadline == .init(offset: .milliseconds(100)))
        clock.advance(by: .milliseconds(100))
        #expect(await client.read(atLeast: 10).count == 10)
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(100))
        #expect(await client.read(atLeast: 5).count == 5)
        await clock.waitForSleepers(1)
        #expect(clock.nextDeadline == .init(offset: .milliseconds(250)))
    }

    @Test func dribblesByteByByte() async throws {
        let clock = TestClock()
        let server = try MockServer(clock: clock)
        defer { server.shutdown() }
        server.enqueue(.init(body: "ab", fault: .dribble(delay: .seconds(1))))
        let client = try RawClient(port: server.port)
        client.send(get())
        var text = ""
        while !text.hasSuffix("\r\n\r\nab") {
            text += String(decoding: await client.read(atLeast: 1), as: UTF8.self)
            await clock.waitForSleepers(1)
            #expect(clock.now.offset == .seconds(text.utf8.count - 1))
            clock.advance(by: .seconds(1))
        }
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func sendsGarbage() async throws {
        let (text, end) = try await exchange(.garbage(Array("SSH-2.0-Something\r\n".utf8)))
        #expect(text == "SSH-2.0-Something\r\n")
        #expect(end == .closed)
    }

    @Test func sendsAnOversizeHead() async throws {
        let (text, _) = try await exchange(.oversizeHead(bytes: 300_000), headers: ["Connection": "close"])
        let (head, body) = split(text)
        #expect((300_000..<301_100).contains(head.utf8.count + 4))
        #expect(body == "0123456789")
    }

    @Test(arguments: [3, 50]) func declaresTheWrongLength(_ declared: Int) async throws {
        let (text, end) = try await exchange(.wrongContentLength(declared: declared))
        #expect(split(text).head.hasSuffix("Content-Length: \(declared)") || text.contains("Content-Length: \(declared)\r\n"))
        #expect(!text.contains("Content-Length: 10"))
        #expect(split(text).body == "0123456789")
        #expect(end == .closed)
    }

    @Test func declaresALengthInPlaceOfChunks() async throws {
        let (text, _) = try await exchange(
            .wrongContentLength(declared: 50), body: .chunked([Array("01234".utf8), Array("56789".utf8)]))
        #expect(split(text).head.contains("Content-Length: 50") && !text.contains("Transfer-Encoding"))
        #expect(split(text).body == "0123456789")
    }

    @Test func breaksOffAChunk() async throws {
        let (text, end) = try await exchange(.truncatedChunk)
        #expect(text.contains("Transfer-Encoding: chunked"))
        #expect(split(text).body == "a\r\n0123456789\r\n10\r\n12345678")
        #expect(end == .closed)
    }

    @Test func refusesConnections() async throws {
        let url = try MockServer.refusedURL("/x")
        #expect(try MockServer.refusedURL("x") == url)
        // 7: couldn't connect.
        #expect(try await CurlCommand.run(url).status == .exited(7))
    }

    /// The numbers are curl's exit codes: 1 for a protocol it doesn't know, 18 for a partial file, 52 for an empty reply,
    /// 56 for a failure to receive, 100 for too large a head.
    @Test(arguments: [
        (Fault.disconnect(.beforeHead), [52]), (.disconnect(.insideBody(afterBytes: 3)), [18]),
        (.reset(.beforeHead), [56]), (.reset(.insideBody(afterBytes: 3)), [56, 18]), (.garbage(Array("nonsense\n".utf8)), [1]),
        (.wrongContentLength(declared: 20), [18]), (.truncatedChunk, [18, 56]), (.oversizeHead(bytes: 400_000), [56, 100, 27]),
        (.disconnect(.afterResponse), [0]),
    ])
    func curlNoticesEachFault(_ fault: Fault, statuses: [Int32]) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "0123456789", fault: fault))
        let result = try await CurlCommand.run(server.url("/"))
        #expect(statuses.map(ChildProcess.Status.exited).contains(result.status))
    }
}

extension HTTPBody {
    /// The same chunks, of a length that is known.
    fileprivate func withLength(_ length: Int64) -> HTTPBody { .stream(length: length) { self } }
}
