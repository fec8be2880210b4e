import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Connections, the closure of `respond`, and the end of a server.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct MockServerLifeTests {
    @Test func servesManyConnectionsAtOnce() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let count = 200
        let everyone = Barrier(count)
        server.respond { request in
            await everyone.arrive()
            return .init(body: .text("for \(request.path)."))
        }
        let clients = try (0..<count).map { _ in try RawClient(port: server.port) }
        for (index, client) in clients.enumerated() { client.send(get("/\(index)")) }
        for (index, client) in clients.enumerated() {
            #expect(await client.read(until: ".").hasSuffix("for /\(index)."))
        }
        #expect(server.connectionCount == count)
        #expect(server.openConnections == count)
        #expect(server.requestCount == count)
        #expect(Set(server.requests.map(\.connection)).count == count)
        withExtendedLifetime(clients) {}
    }

    @Test func keepsAConnectionAndClosesItWhenAsked() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: "hello") }
        let client = try RawClient(port: server.port)
        for _ in 0..<3 {
            client.send(get())
            #expect(await client.read(until: "hello").hasSuffix("hello"))
        }
        client.send(get(fields: "Connection: close"))
        #expect(await client.readAll().text.contains("Connection: close"))
        #expect(server.requests.map(\.requestOnConnection) == [1, 2, 3, 4])
        client.leave()
        await eventually { server.openConnections == 0 }
    }

    @Test func closesTheConnectionsThatAreOpen() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: "hello") }
        let idle = try RawClient(port: server.port)
        idle.send(get())
        #expect(await idle.read(until: "hello").hasSuffix("hello"))
        server.closeConnections()
        #expect(await idle.readAll().end == .closed)
        #expect(try await CurlCommand.run(server.url()).text == "hello")
        #expect(server.connectionCount == 2)
    }

    @Test func namesTheErrorThatTheClosureThrows() async throws {
        struct OutOfOrder: Error {}
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in throw OutOfOrder() }
        let text = try await CurlCommand.run("-w", "%{http_code}", server.url()).text
        #expect(text.contains("OutOfOrder"))
        #expect(text.hasSuffix("500"))
    }

    @Test func cancelsTheClosureWhenTheClientLeaves() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let (cancellations, source) = AsyncStream.makeStream(of: Void.self)
        server.respond { _ in
            defer { source.finish() }
            try await TestClock().sleep(for: .seconds(1))
            return .init()
        }
        let client = try RawClient(port: server.port)
        client.send(get())
        _ = try await server.takeRequest()
        client.leave()
        for await _ in cancellations {}
        await eventually { server.openConnections == 0 }
    }

    @Test func waitsForADelayByItsClock() async throws {
        let clock = TestClock()
        let server = try MockServer(clock: clock)
        defer { server.shutdown() }
        server.enqueue(.init(body: "late", delay: .seconds(30)))
        let client = try RawClient(port: server.port)
        client.send(get())
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        #expect(await client.read(until: "late").hasSuffix("late"))
    }

    @Test func shutdownClosesWhateverIsGoingOn() async throws {
        let server = try MockServer(clock: TestClock())
        let standstill = Standstill()
        server.respond { _ in
            await standstill.happens()
            return .init()
        }
        server.enqueue(
            .init(fault: .stall(.beforeHead)), .init(body: "0123456789", fault: .stall(.insideBody(afterBytes: 3))),
            .init(delay: .seconds(9)), .init(body: .pattern(length: nil)), .init(fault: .dribble(delay: .seconds(1))),
            .init(body: .once(AsyncStream { _ in })))
        var clients: [RawClient] = []
        for index in 0..<7 {
            clients.append(try RawClient(port: server.port))
            clients[index].send(get())
            _ = try await server.takeRequest()
        }
        // One that hasn't sent its request, one that is in the middle of it.
        clients += [try RawClient(port: server.port), try RawClient(port: server.port)]
        clients[8].send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123")
        await eventually { server.openConnections == 9 }

        server.shutdown()
        server.shutdown()
        #expect(server.openConnections == 0)
        for client in clients { _ = await client.read(atLeast: .max) }
        standstill.release()
    }

    @Test func releasingTheServerShutsItDown() async throws {
        let client: RawClient
        weak var released: MockServer?
        do {
            let server = try MockServer()
            released = server
            server.enqueue(.init(fault: .stall(.beforeHead)))
            client = try RawClient(port: server.port)
            client.send(get())
            _ = try await server.takeRequest()
        }
        await eventually(within: .seconds(120)) { released == nil }
        #expect(released == nil)
        #expect(await client.readAll().text.isEmpty)
    }

    @Test func aClosureThatHoldsItsServerIsReleasedByShutdown() async throws {
        let (release, source) = AsyncStream.makeStream(of: Void.self)
        do {
            let server = try MockServer()
            let canary = Canary { source.finish() }
            server.respond { _ in .init(body: .text("\(server.port) \(canary)")) }
            #expect(try await CurlCommand.run(server.url()).text.hasPrefix("\(server.port) "))
            server.shutdown()
        }
        for await _ in release {}
    }

    @Test func listensOnAPortOfItsOwnOrAGivenOne() throws {
        let one = try MockServer()
        let two = try MockServer()
        #expect(one.port != two.port)
        #expect(throws: MockServer.Failure.self) { try MockServer(port: one.port) }
        #expect(throws: MockServer.Failure.self) { try MockServer(port: 70_000) }
        #expect(one.url("a/b", host: "localhost") == "http://localhost:\(one.port)/a/b")
    }

    /// Tried several times, since another test may have been given the port in between.
    @Test func shutdownFreesThePort() throws {
        let isFreed = try (0..<20).contains { _ in
            let server = try MockServer()
            server.shutdown()
            guard (try? RawClient(port: server.port)) == nil, let next = try? MockServer(port: server.port) else { return false }
            return next.port == server.port
        }
        #expect(isFreed)
    }

    @Test(.enabled(if: hasIPv6)) func listensOnIPv6() async throws {
        let server = try MockServer(family: .ipv6)
        defer { server.shutdown() }
        server.enqueue(.init(body: "six"))
        #expect(server.url() == "http://[::1]:\(server.port)/")
        #expect(try await CurlCommand.run("-g", server.url()).text == "six")
    }

    private static let hasIPv6 = (try? MockServer(family: .ipv6)) != nil
}

/// Lets tasks go on when so many have come.
private actor Barrier {
    private var missing: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { missing = count }

    func arrive() async {
        missing -= 1
        if missing > 0 { return await withCheckedContinuation { waiting.append($0) } }
        for continuation in waiting { continuation.resume() }
    }
}

/// Something that a task waits for without reacting to cancellation.
private final class Standstill: Sendable {
    private let (stream, source) = AsyncStream.makeStream(of: Void.self)

    func happens() async {
        await Task.detached { [stream] in for await _ in stream {} }.value
    }

    func release() { source.finish() }
}

/// Tells when it is released.
private final class Canary: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
}
