import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Cancelling ends a request wherever it is, with `CancellationError`, and the server sees its client leave.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct CancellationTests {
    private func expectCancellation(
        of task: Task<some Sendable, any Error>, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        task.cancel()
        let error = await failure { try await task.value }
        #expect(error is CancellationError, "\(error.map { "\($0)" } ?? "a success")", sourceLocation: sourceLocation)
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func beforeTheStart(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "next"))
        let transport = transport.make()
        let client = TransportUnderTest.client(on: transport)
        let mayStart = Event()
        let throughClient = Task {
            await mayStart.wait()
            return try await delivery.send(HTTPRequest(server.url()), by: client)
        }
        await expectCancellation(of: throughClient)
        let direct = Task {
            await mayStart.wait()
            return try await transport.send(HTTPRequest(server.url()))
        }
        await expectCancellation(of: direct)
        #expect(server.connectionCount == 0)
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "next")
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func whileItConnects(transport: TransportUnderTest, delivery: Delivery) async throws {
        let port = try FullPort()
        let client = transport.client()
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "next"), .init(body: "next"))
        let task = Task { try await delivery.send(HTTPRequest(port.url), by: client) }
        // While this is answered, the other one begins to connect.
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "next")
        await expectCancellation(of: task)
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "next")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func whileABodyOfBytesIsSent(transport: TransportUnderTest) async throws {
        let silent = try SilentServer()
        let client = transport.client()
        let body = HTTPBody.bytes([UInt8](repeating: 1, count: 32 << 20))
        let task = Task { try await client.send(HTTPRequest(.put, silent.url, body: body)) }
        let connection = await silent.accepted()
        await expectCancellation(of: task)
        await connection.drained()
        try await expectUsable(client)
    }

    @Test(arguments: TransportUnderTest.allCases, [nil, 1_000])
    func whileABodyIsMade(transport: TransportUnderTest, length: Int64?) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        let standstill = Standstill()
        let body = HTTPBody.stream(length: length) { standstill.stream(after: [[UInt8]("first")]) }
        let task = Task { try await client.send(HTTPRequest(.put, server.url(), body: body)) }
        await standstill.reached.wait()
        await expectCancellation(of: task)
        await standstill.clientLeft.wait()
        #expect(server.requestCount == 0, "Half a body doesn't pass for a whole request.")
        try await expectUsable(client)
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func whileTheServerThinks(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let standstill = Standstill()
        server.respond { _ in
            await standstill.wait()
            return .init()
        }
        let client = transport.client()
        let task = Task { try await delivery.send(HTTPRequest(server.url()), by: client) }
        await standstill.reached.wait()
        await expectCancellation(of: task)
        try await expectUsable(client)
        try await needing(.noticeOfLeaving, of: transport) { await standstill.clientLeft.wait() }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func whileTheBodyArrives(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let standstill = Standstill()
        server.enqueue(.init(body: standstill.body(after: [[UInt8]("first")])))
        let client = transport.client()
        let task = Task { try await delivery.send(HTTPRequest(server.url()), by: client) }
        await standstill.reached.wait()
        await expectCancellation(of: task)
        try await expectUsable(client)
        try await needing(.noticeOfLeaving, of: transport) { await standstill.clientLeft.wait() }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func betweenTwoPiecesOfABody(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let standstill = Standstill()
        server.enqueue(.init(body: standstill.body(after: [[UInt8]("first")])))
        let client = transport.client()
        let hasFirst = Event()
        let isCancelled = Event()
        let task = Task {
            let response = try await client.stream(HTTPRequest(server.url()))
            var body = response.body.makeAsyncIterator()
            #expect(try await body.next() == [UInt8]("first"))
            hasFirst.happen()
            await isCancelled.wait()
            return try await body.next()
        }
        await hasFirst.wait()
        await standstill.reached.wait()
        await expectCancellation(of: task)
        try await expectUsable(client)
        try await needing(.noticeOfLeaving, of: transport) { await standstill.clientLeft.wait() }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aFastBody(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: .pattern(length: nil)))
        let client = transport.client()
        try await needing(.responseBackPressure, of: transport) {
            let hasMuch = Event()
            let task = Task {
                var count = 0
                for try await chunk in try await client.stream(HTTPRequest(server.url())).body {
                    count += chunk.count
                    if count > 4 << 20 { hasMuch.happen() }
                }
            }
            await hasMuch.wait()
            await expectCancellation(of: task)
            try await expectUsable(client)
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func manyAtATime(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let arrived = Locked(0)
        let allHaveArrived = Event()
        server.respond { request in
            guard request.path == "/wait" else { return .init(body: "answer") }
            if arrived.withLock({
                $0 += 1; return $0 == 50
            }) {
                allHaveArrived.happen()
            }
            await Event().wait()
            return .init()
        }
        let client = transport.client()
        try await needing(.manyConnections, of: transport) {
            let waiting = (0..<50).map { _ in Task { try await client.send(HTTPRequest(server.url("/wait"))) } }
            await allHaveArrived.wait()
            for task in waiting { task.cancel() }
            for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
            for _ in 0..<10 { _ = try await client.send(HTTPRequest(server.url())) }
        }
    }

    /// At no particular place: whatever it hits, it ends, and with one of the two outcomes.
    @Test(arguments: TransportUnderTest.allCases)
    func anywhere(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in .init(body: .bytes(request.body)) }
        let client = transport.client()
        for round in 0..<60 {
            let delivery: Delivery = round.isMultiple(of: 2) ? .buffered : .streamed
            let bytes = noise(200_000)
            let task = Task { try await delivery.send(HTTPRequest(.post, server.url(), body: .bytes(bytes)), by: client) }
            for _ in 0..<(round * 5) { await Task.yield() }
            task.cancel()
            do {
                #expect(try await task.value.bytes == bytes)
            } catch {
                #expect(error is CancellationError, "\(error)")
            }
        }
        try await expectUsable(client)
    }

    private func expectUsable(_ client: HTTPClient) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "next"))
        #expect(try await client.send(HTTPRequest(server.url())).body.bytes == [UInt8]("next"))
    }
}
