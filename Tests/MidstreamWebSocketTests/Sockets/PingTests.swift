#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamTesting
    import MidstreamWebSocket
    import TestSupport
    import Testing

    /// Over loopback, against a server that does what the test says.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct PingTests {
        private let server: MockServer
        private let client: HTTPClient

        init() throws {
            server = try MockServer()
            client = testClient(baseURL: server.url(), transport: wireTransport())
        }

        private func connect(_ serve: @escaping @Sendable (MockWebSocket) async throws -> Void) async throws -> WebSocket {
            server.enqueue(.webSocket(serve))
            return try await client.webSocket("feed").connect()
        }

        @Test func `Pings are answered while nobody reads, and pongs are timed`() async throws {
            let answered = Gate()
            let socket = try await connect { socket in
                try await socket.pong([9])
                for number in UInt8(0)..<10 { try await socket.ping([number]) }
                for number in UInt8(0)..<10 {
                    let event = try await socket.next()
                    #expect(event == .pong([number]))
                }
                answered.open()
                try await socket.echo()
            }
            await answered.wait()
            async let other = socket.ping()
            #expect(try await socket.ping() >= .zero)
            #expect(try await other >= .zero)
            #expect(socket.metrics.lastRoundTrip != nil)
            try await socket.close()
            await #expect(throws: HTTPError.self) { try await socket.ping() }
        }

        @Test func `A pong that doesn't come is a timeout, and ends a socket that pings by itself`() async throws {
            let clock = TestClock()
            let configuration = HTTPClient.Configuration(timeout: nil, clock: clock)
            let client = testClient(baseURL: server.url(), configuration: configuration, transport: wireTransport())
            let deaf: @Sendable (MockWebSocket) async throws -> Void = { socket in while try await socket.next() != nil {} }
            server.enqueue(.webSocket(deaf), .webSocket(deaf))
            let socket = try await client.webSocket("a").connect()
            let ping = Task { try await socket.ping() }
            await clock.pass(.seconds(10))
            let late = await #expect(throws: HTTPError.self) { try await ping.value }
            #expect(late?.code == .timeout && socket.closure == nil)
            #expect(late?.request?.urlText == socket.response.request.urlText)

            let other = try await client.webSocket("b") { $0.pingInterval = .seconds(20) }.connect()
            var messages = other.makeAsyncIterator()
            await clock.pass(.seconds(20))
            await clock.pass(.seconds(10))
            let error = await #expect(throws: HTTPError.self) { try await messages.next() }
            #expect(error?.code == .connectionLost && (error?.underlying as? WebSocketClosure)?.code == .abnormal)
        }

        @Test func `The answer to a message doesn't overtake that to a ping before it`() async throws {
            let socket = try await connect { socket in
                for _ in 0..<50 {
                    for number in UInt8(0)..<10 {
                        try await socket.ping([number])
                        try await socket.send([number])
                    }
                    var (pongs, messages) = (UInt8(0), UInt8(0))
                    for _ in 0..<20 {
                        switch try await socket.next() {
                        case .pong(let payload):
                            #expect(payload == [pongs])
                            pongs += 1
                        case let event:
                            #expect(event == .binary([messages]) && messages < pongs)
                            messages += 1
                        }
                    }
                }
                try await socket.close()
            }
            for try await message in socket { try await socket.send(message) }
        }
    }
#endif
