import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct DeliveryTests {
    private static let responses: [@Sendable ([UInt8]) -> MockServer.Response] = [
        { .init(body: .bytes($0)) }, { .init(body: .chunked($0.pieces(of: 9_973))) },
        { .init(body: .bytes($0), closeDelimited: true) },
    ]

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func everyByteArrives(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        for make in Self.responses {
            for count in [0, 1, 16_384, 5_000_011] {
                let bytes = noise(count)
                server.enqueue(make(bytes))
                let received = try await delivery.send(HTTPRequest(server.url()), by: client)
                #expect(received.bytes == bytes)
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyGoesThereAndBackUnchanged(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in .init(body: .bytes(request.body)) }
        let everyByte = (0..<2_000).flatMap { _ in (0...255).map { UInt8($0) } }
        let response = try await transport.client().send(HTTPRequest(.post, server.url(), body: .bytes(everyByte)))
        #expect(response.body.bytes == everyByte)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aStreamedHeadComesBeforeItsBody(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let (chunks, mayCome) = AsyncStream<[UInt8]>.makeStream()
        server.enqueue(.init(status: 202, headers: ["X-Head": "yes"], body: .once(chunks)))
        let response = try await transport.client().stream(HTTPRequest(server.url()))
        #expect(response.status == 202)
        #expect(response.headers["X-Head"] == "yes")
        #expect(response.body.bytes == nil)
        var body = response.body.makeAsyncIterator()
        for text in ["one", "two", "three"] {
            mayCome.yield([UInt8](text))
            #expect(try await body.next() == [UInt8](text), "A piece is there as soon as it was sent.")
        }
        mayCome.finish()
        #expect(try await body.next() == nil)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theLengthOfAStreamIsTold(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "hello"), .init(body: .chunked([[UInt8]("hello")])))
        let client = transport.client()
        let known = try await client.stream(HTTPRequest(server.url()))
        #expect(known.body.length == 5)
        #expect(try await known.body.collect() == [UInt8]("hello"))
        let unknown = try await client.stream(HTTPRequest(server.url()))
        #expect(unknown.body.length == nil)
        #expect(try await unknown.body.collect() == [UInt8]("hello"))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aStreamIsReadASingleTime(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "hello"))
        let response = try await transport.client().stream(HTTPRequest(server.url()))
        #expect(response.body.replayability == .once)
        #expect(try await response.body.collect() == [UInt8]("hello"))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyOfTheLargestAllowedSizeIsTaken(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client { $0.maximumBufferedBody = 100_000 }
        for make in Self.responses {
            let bytes = noise(100_000)
            server.enqueue(make(bytes), make(bytes + [0]))
            #expect(try await client.send(HTTPRequest(server.url())).body.bytes == bytes)
            await expectError(.bodyTooLarge, .answered) { try await client.send(HTTPRequest(server.url())) }
        }
    }

    /// It would never end if the transport went on reading.
    @Test(arguments: TransportUnderTest.allCases)
    func anEndlessBodyIsGivenUp(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: .pattern(length: nil)), .init(body: "next"))
        let client = transport.client { $0.maximumBufferedBody = 1 << 20 }
        await expectError(.bodyTooLarge, .answered) { try await client.send(HTTPRequest(server.url())) }
        #expect(try await client.send(HTTPRequest(server.url())).body.bytes == [UInt8]("next"))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theLimitCountsWhatWasDecoded(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(
            .init(headers: ["Content-Encoding": "gzip"], body: .bytes(EncodedBytes.gzip)),
            .init(headers: ["Content-Encoding": "gzip"], body: .bytes(EncodedBytes.gzip)),
            .init(headers: ["Content-Encoding": "gzip"], body: .once(EncodedBytes.endlessZeros())))
        let size = EncodedBytes.plain.utf8.count
        let transport = transport.make()
        let enough = TransportUnderTest.client(on: transport) { $0.maximumBufferedBody = size }
        #expect(try await enough.send(HTTPRequest(server.url())).body.bytes?.count == size)
        let tooLittle = TransportUnderTest.client(on: transport) { $0.maximumBufferedBody = size - 1 }
        await expectError(.bodyTooLarge, .answered) { try await tooLittle.send(HTTPRequest(server.url())) }
        // A thousandth of it comes over the wire.
        let bomb = TransportUnderTest.client(on: transport) { $0.maximumBufferedBody = 1 << 20 }
        await expectError(.bodyTooLarge, .answered) { try await bomb.send(HTTPRequest(server.url())) }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyIsReceivedNoFasterThanItIsRead(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let total = 256 << 20
        let sent = Locked(0)
        let piece = [UInt8](repeating: 7, count: 64 << 10)
        let chunks = AsyncStream<[UInt8]> {
            sent.withLock { count in
                guard count < total else { return nil }
                count += piece.count
                return piece
            }
        }
        server.enqueue(.init(body: .once(chunks)))
        try await needing(.responseBackPressure, of: transport) {
            let response = try await transport.client().stream(HTTPRequest(server.url()))
            let settled = try await sent.settled()
            #expect(settled < 64 << 20, "Bytes that nobody reads have been received.")
            var count = 0
            for try await chunk in response.body { count += chunk.count }
            #expect(count == total)
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aStreamedBodyHasNoLimit(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: .pattern(length: 3 << 20)))
        let client = transport.client { $0.maximumBufferedBody = 1 << 20 }
        let response = try await client.stream(HTTPRequest(server.url()))
        var offset = 0
        for try await chunk in response.body {
            for byte in chunk {
                guard byte == MockServer.patternByte(at: offset) else {
                    Issue.record("The byte at \(offset) is wrong.")
                    return
                }
                offset += 1
            }
        }
        #expect(offset == 3 << 20)
    }
}
