#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamResilience
    import MidstreamTesting
    import TestSupport
    import Testing
    import WebSocketFrames

    @testable import MidstreamWebSocket

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ReconnectingTests {
        private let server: MockServer
        private let clock = TestClock()

        init() throws { server = try MockServer() }

        private func client(
            over transport: (any HTTPTransport)? = nil, _ change: (inout HTTPClient.Configuration) -> Void = { _ in },
            @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
        ) -> HTTPClient {
            var configuration = HTTPClient.Configuration(timeout: nil, clock: clock, random: { 0.5 })
            change(&configuration)
            return testClient(
                baseURL: server.url(), configuration: configuration, transport: transport ?? wireTransport(),
                interceptors: interceptors)
        }

        @Test func `A socket that is lost is opened again, from where it was`() async throws {
            server.enqueue(
                .webSocket { socket in
                    try await socket.send("1")
                    try await socket.close(1012)
                    _ = try await socket.next()
                },
                .init(status: .serviceUnavailable),
                .webSocket { socket in
                    try await socket.send("2")
                    try await socket.close(1000)
                    _ = try await socket.next()
                })
            let feed = client().webSocket("feed").reconnecting(.exponential(base: .seconds(2), jitter: .off)) { request, last in
                guard case .text(let text) = last else { return }
                request.addQuery("after", text)
            }
            var events = feed.makeAsyncIterator()
            guard case .opened(let response)? = try await events.next() else { return _ = Issue.record("not opened") }
            #expect(response.status == 101)
            guard case .message(.text("1"))? = try await events.next() else { return _ = Issue.record("no message") }
            guard case .lost(let error, again: .seconds(2))? = try await events.next() else {
                return _ = Issue.record("not lost")
            }
            #expect(((error as? HTTPError)?.underlying as? WebSocketClosure)?.code == .restart)
            await #expect(throws: HTTPError.self) { try await feed.send("nobody there") }
            async let passed: Void = clock.pass(.seconds(2))
            guard case .lost(let refusal, again: .seconds(4))? = try await events.next() else {
                return _ = Issue.record("not refused")
            }
            #expect((refusal as? HTTPError)?.response?.status == .serviceUnavailable)
            await passed
            async let passedAgain: Void = clock.pass(.seconds(4))
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened again") }
            await passedAgain
            guard case .message(.text("2"))? = try await events.next() else { return _ = Issue.record("no message") }
            #expect(try await events.next() == nil)
            #expect(try await events.next() == nil)
            #expect(server.requests.map(\.target) == ["/feed", "/feed?after=1", "/feed?after=1"])
        }

        @Test func `A feed sends bytes and messages as a socket does`() async throws {
            server.enqueue(.webSocket { try await $0.echo() })
            let feed = client().webSocket("feed").reconnecting()
            var events = feed.makeAsyncIterator()
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
            try await feed.send(Data([1, 2]))
            try await feed.send(WebSocketMessage.text("a"))
            for expected: WebSocketMessage in [.binary([1, 2]), .text("a")] {
                guard case .message(let message)? = try await events.next() else { return _ = Issue.record("no message") }
                #expect(message == expected)
            }
            try await feed.close()
        }

        @Test func `It is opened again when the server goes away`() async throws {
            server.enqueue(
                .webSocket { socket in
                    try await socket.close(1001)
                    _ = try await socket.next()
                }, .webSocket { try await $0.echo() })
            let feed = client().webSocket("feed").reconnecting(.immediate)
            var events = feed.makeAsyncIterator()
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
            guard case .lost(let error, again: .zero)? = try await events.next() else { return _ = Issue.record("not lost") }
            let closure = (error as? HTTPError)?.underlying as? WebSocketClosure
            #expect(closure == WebSocketClosure(code: .goingAway, byPeer: true))
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened again") }
            try await feed.close()
            #expect(try await events.next() == nil)
        }

        @Test(arguments: [4000, .normal, .policyViolation] as [WebSocketClosure.Code])
        func `A socket that its user closes is opened again, until the feed is closed`(code: WebSocketClosure.Code) async throws {
            server.respond { _ in .webSocket { try await $0.echo() } }
            let feed = client().webSocket("feed").reconnecting(.immediate)
            var events = feed.makeAsyncIterator()
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
            try await feed.socket?.close(code, "no heartbeat")
            guard case .lost(let error, again: .zero)? = try await events.next() else { return _ = Issue.record("not lost") }
            let closure = (error as? HTTPError)?.underlying as? WebSocketClosure
            #expect(closure == WebSocketClosure(code: code, reason: "no heartbeat", byPeer: false))
            #expect((error as? HTTPError)?.request?.urlText == server.url("/feed"))
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened again") }
            try await feed.close()
            #expect(try await events.next() == nil)
        }

        @Test func `It isn't opened again where that wouldn't help`() async throws {
            for code in [1002, 1007, 1008, 1009, 1010] {
                server.enqueue(
                    .webSocket { socket in
                        try await socket.close(code)
                        _ = try await socket.next()
                    })
                var events = client().webSocket("feed").reconnecting().makeAsyncIterator()
                guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
                let error = await #expect(throws: HTTPError.self) { try await events.next() }
                #expect((error?.underlying as? WebSocketClosure)?.code.rawValue == UInt16(code))
                #expect(try await events.next() == nil)
            }
            for status: HTTPStatus in [200, 401, 404] {
                server.enqueue(.init(status: status))
                var events = client().webSocket("feed").reconnecting().makeAsyncIterator()
                let error = await #expect(throws: HTTPError.self) { try await events.next() }
                #expect(error?.response?.status == status)
            }
        }

        @Test func `What a breaker refuses for a time is tried again`() async throws {
            let breaker = CircuitBreaker()
            breaker.isolate()
            server.enqueue(.webSocket { socket in try await socket.echo() })
            let client = client(interceptors: { breaker })
            let feed = client.webSocket("feed").reconnecting(.exponential(base: .seconds(1), jitter: .off))
            var events = feed.makeAsyncIterator()
            guard case .lost(let error, again: .seconds(1))? = try await events.next() else {
                return _ = Issue.record("not lost")
            }
            #expect((error as? HTTPError)?.code == .circuitOpen)
            breaker.close()
            async let passed: Void = clock.pass(.seconds(1))
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
            await passed
            try await feed.close()
            #expect(try await events.next() == nil)
        }

        @Test func `Attempts cost the client's budget nothing, and are made while it has nothing`() async throws {
            let client = client { $0.retryBudget = RetryBudget(share: 0, reserve: 0) }
            server.enqueue(
                .init(status: .serviceUnavailable), .init(status: .serviceUnavailable), .webSocket { try await $0.echo() })
            let feed = client.webSocket("feed").reconnecting(.immediate)
            var events = feed.makeAsyncIterator()
            for _ in 0..<2 {
                guard case .lost(let error, again: .zero)? = try await events.next() else { return _ = Issue.record("not lost") }
                #expect((error as? HTTPError)?.response?.status == .serviceUnavailable)
            }
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
            #expect(client.retryBudget?.retries == 0)
            try await feed.close()
        }

        @Test func `The deadline of a call within which it is read ends it`() async throws {
            server.respond { _ in .init(status: .serviceUnavailable) }
            let feed = client().webSocket("feed").reconnecting(.delayed(.seconds(3)))
            let reading = Locked<Task<Bool, any Error>?>(nil)
            let outer = client(interceptors: {
                ClosureHTTPInterceptor { request, _ in
                    reading.withLock {
                        $0 = Task {
                            var events = feed.makeAsyncIterator()
                            return try await events.next() == nil
                        }
                    }
                    return HTTPResponse(status: .ok, request: request)
                }
            })
            var request = HTTPRequest("outer")
            request.deadline = .seconds(2)
            _ = try await outer.send(request)
            let task = try #require(reading.withLock { $0 })
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .deadlineExceeded)
            #expect(server.requestCount == 1)
        }

        @Test func `A send that waits fails when the socket is lost, and is sent once at most`() async throws {
            let release = Gate()
            server.enqueue(
                .webSocket { socket in
                    await release.wait()
                    await socket.disconnect()
                },
                .webSocket { socket in
                    let first = try await socket.next()
                    #expect(first == .text("new"))
                    try await socket.send("done")
                    try await socket.echo()
                })
            let feed = client().webSocket("feed").reconnecting(.immediate)
            var events = feed.makeAsyncIterator()
            _ = try await events.next()
            let sending = Task { try await feed.send([UInt8](repeating: 0, count: 64 << 20)) }
            await eventually { (feed.socket?.metrics.wireBytesSent ?? 0) > 0 }
            release.open()
            await #expect(throws: HTTPError.self) { try await sending.value }
            guard case .lost(_, again: .zero)? = try await events.next() else { return _ = Issue.record("not lost") }
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened again") }
            try await feed.send("new")
            guard case .message(.text("done"))? = try await events.next() else { return _ = Issue.record("no message") }
            try await feed.close()
            #expect(try await events.next() == nil)
        }

        @Test func `A reader that leaves closes the socket, though the feed is kept`() async throws {
            let left = Gate()
            server.enqueue(
                .webSocket { socket in
                    while let event = try? await socket.next() { if case .close = event { break } }
                    left.open()
                })
            let feed = client().webSocket("feed").reconnecting()
            for try await event in feed { if case .opened = event { break } }
            try #require(feed.socket == nil)
            await left.wait()
        }

        @Test func `A reader that leaves ends a send that waits for the server`() async throws {
            let release = Gate()
            server.enqueue(.webSocket { _ in await release.wait() })
            let feed = client().webSocket("feed").reconnecting()
            var events: ReconnectingWebSocket.AsyncIterator? = feed.makeAsyncIterator()
            guard case .opened? = try await events?.next() else { return _ = Issue.record("not opened") }
            let sending = Task { try await feed.send([UInt8](repeating: 0, count: 64 << 20)) }
            await eventually { (feed.socket?.metrics.wireBytesSent ?? 0) > 0 }
            events = nil
            let failure = await #expect(throws: HTTPError.self) { try await sending.value }
            #expect(failure?.code == .connectionLost)
            release.open()
        }

        @Test func `A reader that leaves after a failed send closes the socket, though somebody keeps it`() async throws {
            // More than waits for a reader.
            let line = BlockedLine(FrameWriter.frame(.binary, [UInt8](repeating: 0, count: 300 << 10)))
            let feed = client(over: StubTransport(socketOver: line)).webSocket("feed").reconnecting()
            var events: ReconnectingWebSocket.AsyncIterator? = feed.makeAsyncIterator()
            guard case .opened? = try await events?.next() else { return _ = Issue.record("not opened") }
            let socket = try #require(feed.socket)
            let sending = Task { try await feed.send("lost") }
            await eventually { socket.connection.state.withLock { $0.inbox.receiver != nil } }
            line.breaks.open()
            await #expect(throws: HTTPError.self) { try await sending.value }
            try #require(socket.closure == nil)
            events = nil
            #expect(socket.closure?.code == .abnormal)
        }

        @Test func `A code that can't be sent leaves the feed as it is`() async throws {
            server.enqueue(.webSocket { try await $0.echo() })
            let feed = client().webSocket("feed").reconnecting()
            let early = await #expect(throws: HTTPError.self) { try await feed.send("early") }
            #expect(early?.request != nil)
            await #expect(throws: HTTPError.self) { try await feed.close(1005) }
            var events = feed.makeAsyncIterator()
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
            let error = await #expect(throws: HTTPError.self) { try await feed.close(.abnormal) }
            #expect(error?.code == .invalidRequest)
            try await feed.send("still there")
            guard case .message(.text("still there"))? = try await events.next() else { return _ = Issue.record("no message") }
            try await feed.close()
            #expect(try await events.next() == nil)
        }

        @Test func `Closing ends an attempt that isn't answered`() async throws {
            server.enqueue(.init(fault: .stall(.beforeHead)))
            let feed = client().webSocket("feed").reconnecting()
            let reading = Task {
                var events = feed.makeAsyncIterator()
                return try await events.next() == nil
            }
            await eventually { server.requestCount == 1 }
            try await feed.close()
            #expect(try await reading.value)
        }

        @Test func `Closing ends the pause between two attempts, and cancelling does`() async throws {
            server.respond { _ in .init(status: .serviceUnavailable) }
            let feed = client().webSocket("feed").reconnecting()
            var events = feed.makeAsyncIterator()
            guard case .lost? = try await events.next() else { return _ = Issue.record("not lost") }
            let reading = Task { [events] in
                var events = events
                return try await events.next() == nil
            }
            await clock.waitForSleepers(1)
            try await feed.close()
            #expect(try await reading.value)

            let other = client().webSocket("feed").reconnecting()
            let task = Task { for try await _ in other {} }
            await clock.waitForSleepers(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            var second = other.makeAsyncIterator()
            await #expect(throws: HTTPError.self) { try await second.next() }
        }
    }
#endif
