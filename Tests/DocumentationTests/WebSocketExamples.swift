#if os(Linux)
    import Foundation
    import Midstream
    import MidstreamTesting
    import MidstreamWebSocket
    import MidstreamWire
    import Testing

    @Suite("WebSockets.md", .timeLimit(.minutes(10)))
    struct WebSocketExamples {
        struct Quote: Codable { var price: Int }
        struct Order: Codable { var item: String, count: Int }

        private func client(_ server: MockServer) -> HTTPClient { HTTPClient(baseURL: server.url(), transport: WireTransport()) }

        @Test("Messages")
        func messages() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { _ in
                .webSocket { socket in
                    _ = try await socket.next()
                    try await socket.send([1, 2])
                    try await socket.close()
                    _ = try await socket.next()
                }
            }
            let client = client(server)
            let socket = try await client.webSocket("feed").connect()
            try await socket.send("hello")
            for try await message in socket {
                switch message {
                case .text(let text): print(text)
                case .binary(let bytes): print(bytes.count)
                }
            }
            #expect(socket.metrics.messagesReceived == 1)
        }

        @Test("Settings, values and the end")
        func settings() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { _ in
                .webSocket(subprotocol: "v2.json", compresses: true) { socket in
                    for _ in 0..<2 { _ = try await socket.next() }
                    try await socket.send(#"{"price":7}"#)
                    try await socket.close(1001)
                    _ = try await socket.next()
                }
            }
            let client = client(server)
            let chunks = AsyncStream<[UInt8]> { source in
                source.yield([1])
                source.finish()
            }
            let socket = try await client.webSocket("quotes", protocols: ["v2.json", "v1.json"]) {
                $0.compression = .offered
                $0.pingInterval = .seconds(20)
            }.connect()
            if socket.subprotocol == "v2.json" { print(socket.response.trace) }
            #expect(socket.isCompressing)
            try await socket.send(json: Order(item: "tea", count: 2))
            try await socket.send(.binary, chunks: chunks)
            for try await quote in socket.values(Quote.self) { print(quote.price) }
            try await socket.close(.normal, "bye")
            print(socket.closure?.code ?? .none)
            #expect(socket.closure?.code == .goingAway)
        }

        @Test("Again and again")
        func reconnecting() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.enqueue(
                .webSocket { socket in
                    try await socket.send("1")
                    try await socket.close(1000)
                    _ = try await socket.next()
                })
            let client = client(server)
            let feed = client.webSocket("feed").reconnecting { request, last in
                if case .text(let text) = last { request.addQuery("after", text) }
            }
            for try await event in feed {
                switch event {
                case .opened(let response): print("open: \(response.status)")
                case .message(let message): print(message.bytes.count)
                case .lost(let error, let delay): print("\(error), again after \(delay)")
                }
            }
            #expect(server.requestCount == 1)
        }

        @Test("A stub and a server for tests")
        func tests() async throws {
            let stub = StubTransport { request in
                .webSocket(answering: request) { socket in
                    try await socket.send("hello")
                    try await socket.echo()
                }
            }
            let socket = try await HTTPClient(transport: stub).webSocket("wss://example.com/feed").connect()
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("hello"))
            try await socket.close()

            let server = try MockServer()
            defer { server.shutdown() }
            server.enqueue(
                .init(status: .unauthorized),
                .webSocket { socket in
                    try await socket.send(.init(opcode: 1, payload: [0xFF]))
                })
            let client = client(server)
            await #expect(throws: HTTPError.self) { try await client.webSocket("feed").connect() }
            let broken = try await client.webSocket("feed").connect()
            await #expect(throws: HTTPError.self) { for try await _ in broken {} }
        }
    }
#endif
