#if os(Linux)
    import Interception
    import Midstream
    import MidstreamCore
    import MidstreamTesting
    import MidstreamWebSocket
    import MidstreamWire
    import TestSupport
    import Testing

    /// What a feed waits for, and what its user has a say in.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct FeedTests {
        private let server: MockServer
        private let clock = TestClock()

        init() throws { server = try MockServer() }

        private func client(
            on transport: (any HTTPTransport)? = nil, @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
        ) -> HTTPClient {
            testClient(
                baseURL: server.url(), configuration: .init(timeout: nil, clock: clock), transport: transport ?? wireTransport(),
                interceptors: interceptors)
        }

        /// Reads until the socket is lost; how long the feed waits then.
        private func delay(_ events: inout ReconnectingWebSocket.AsyncIterator) async throws -> Duration? {
            while let event = try await events.next() {
                if case .lost(_, let delay) = event { return delay }
            }
            return nil
        }

        @Test func `The delay begins anew after a socket that stood for longer than it, and grows after a brief one`()
            async throws
        {
            let release = Gate()
            let brief = MockServer.Response.webSocket { socket in
                try await socket.close(1012)
                _ = try await socket.next()
            }
            server.enqueue(
                .init(status: .serviceUnavailable), brief,
                .webSocket { socket in
                    await release.wait()
                    try await socket.close(1012)
                    _ = try await socket.next()
                })
            let feed = client().webSocket("feed").reconnecting(.exponential(base: .seconds(1), jitter: .off))
            var events = feed.makeAsyncIterator()
            let delayAfterRefusal = try await delay(&events)
            async let first: Void = clock.pass(.seconds(1))
            let delayAfterBriefOne = try await delay(&events)
            await first
            async let second: Void = clock.pass(.seconds(2))
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
            await second
            clock.advance(by: .seconds(3))
            release.open()
            let delayAfterLongOne = try await delay(&events)
            #expect([delayAfterRefusal, delayAfterBriefOne, delayAfterLongOne] == [.seconds(1), .seconds(2), .seconds(1)])
        }

        @Test func `What the server asks for is waited for, up to the maximum, unless the strategy decides by itself`()
            async throws
        {
            let strategies: [(RetryStrategy, String, Duration)] = [
                (.delayed(.seconds(1)), "20", .seconds(20)), (.delayed(.seconds(30)), "20", .seconds(30)),
                (.delayed(.seconds(1)), "9999", .seconds(60)), (.custom { _ in .seconds(1) }, "20", .seconds(1)),
            ]
            for (strategy, asked, expected) in strategies {
                for status: HTTPStatus in [.tooManyRequests, .serviceUnavailable] {
                    server.enqueue(.init(status: status, headers: [.retryAfter: asked]))
                    var events = client().webSocket("feed").reconnecting(strategy).makeAsyncIterator()
                    let waited = try await delay(&events)
                    #expect(waited == expected)
                }
            }
        }

        @Test func `What is thrown before an attempt ends the feed, unless it may pass`() async throws {
            struct NoMore: Error {}
            server.respond { _ in .init(status: .serviceUnavailable) }
            let attempts = Locked(0)
            let feed = client().webSocket("feed").reconnecting(.immediate) { _, _ in
                let number = attempts.increment()
                throw number == 1 ? HTTPError(.timeout, phase: .notSent) as any Error : NoMore()
            }
            var events = feed.makeAsyncIterator()
            for _ in 0..<2 {
                let waited = try await delay(&events)
                #expect(waited == .zero)
            }
            await #expect(throws: NoMore.self) { try await events.next() }
            #expect(try await events.next() == nil)
            #expect(server.requestCount == 1)
        }

        @Test func `A 500 and a proxy that fails are passed over, and a transport that has been closed is the end`() async throws
        {
            server.enqueue(.init(status: .internalServerError), .webSocket { try await $0.echo() })
            let transport = wireTransport()
            let feed = client(on: transport).webSocket("feed").reconnecting(.immediate)
            var events = feed.makeAsyncIterator()
            guard case .lost(let failure, again: .zero)? = try await events.next() else {
                return _ = Issue.record("not lost")
            }
            #expect((failure as? HTTPError)?.response?.status == .internalServerError)
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
            transport.close()
            // It breaks the socket, and no attempt at another is told or waited for.
            let end = await #expect(throws: HTTPError.self) { try await events.next() }
            #expect(end?.code == .connectionLost)
            #expect(try await events.next() == nil)

            let stub = StubTransport { request in throw HTTPError(.proxy, request: request, phase: .notSent) }
            var others = client(on: stub).webSocket("feed").reconnecting(.immediate).makeAsyncIterator()
            guard case .lost? = try await others.next() else { return _ = Issue.record("not lost") }
        }

        @Test func `A fallback of the client's isn't the server's answer`() async throws {
            server.enqueue(.init(status: .serviceUnavailable), .webSocket { try await $0.echo() })
            let client = client { Fallback { request, _ in HTTPResponse(status: .ok, request: request) } }
            let feed = client.webSocket("feed").reconnecting(.immediate)
            var events = feed.makeAsyncIterator()
            guard case .lost? = try await events.next() else { return _ = Issue.record("not lost") }
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened") }
            try await feed.close()
        }

        @Test func `Protocols that are set before an attempt are offered in place of those at first`() async throws {
            server.enqueue(
                .webSocket(subprotocol: "token.1") { socket in
                    try await socket.close(1012)
                    _ = try await socket.next()
                }, .webSocket(subprotocol: "token.2") { try await $0.echo() })
            let feed = client().webSocket("feed", protocols: ["token.1"]).reconnecting(.immediate) { request, _ in
                request.headers["Sec-WebSocket-Protocol"] = "token.2"
            }
            var events = feed.makeAsyncIterator()
            _ = try await delay(&events)
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened again") }
            #expect(feed.socket?.subprotocol == "token.2")
            #expect(server.requests.map { $0.headers["Sec-WebSocket-Protocol"] } == ["token.1", "token.2"])
            try await feed.close()
        }

        @Test func `Protocols that nobody changes are offered at each attempt`() async throws {
            server.enqueue(
                .webSocket(subprotocol: "chat") { socket in
                    try await socket.close(1012)
                    _ = try await socket.next()
                }, .webSocket(subprotocol: "chat") { try await $0.echo() })
            let feed = client().webSocket("feed", protocols: ["chat"]).reconnecting(.immediate)
            var events = feed.makeAsyncIterator()
            _ = try await delay(&events)
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened again") }
            #expect(server.requests.map { $0.headers["Sec-WebSocket-Protocol"] } == ["chat", "chat"])
            try await feed.close()
        }

        @Test func `A new token is fetched for a socket where one is needed`() async throws {
            struct Token: Authenticator {
                func apply(_ credential: Int, to request: inout HTTPRequest) async throws {
                    request.headers[.authorization] = "Bearer \(credential)"
                }
                func refresh(_ credential: Int?) async throws -> Int { (credential ?? 0) + 1 }
            }
            server.enqueue(
                .webSocket { socket in
                    try await socket.close(1012)
                    _ = try await socket.next()
                }, .init(status: .unauthorized), .webSocket { try await $0.echo() })
            let client = client { AuthenticationInterceptor(Token(), credential: 1) }
            let feed = client.webSocket("feed").reconnecting(.immediate)
            var events = feed.makeAsyncIterator()
            let waited = try await delay(&events)
            #expect(waited == .zero)
            guard case .opened? = try await events.next() else { return _ = Issue.record("not opened again") }
            #expect(server.requests.map { $0.headers[.authorization] } == ["Bearer 1", "Bearer 1", "Bearer 2"])
            try await feed.close()
        }
    }
#endif
