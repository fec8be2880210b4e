#if os(Linux)
    import MidstreamCore
    import MidstreamTesting
    import MidstreamWebSocket
    import TestSupport
    import Testing

    /// Closing where the server doesn't do its part.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ClosingTests {
        private let server: MockServer
        private let clock = TestClock()
        private let client: HTTPClient

        init() throws {
            server = try MockServer()
            let configuration = HTTPClient.Configuration(timeout: nil, clock: clock)
            client = testClient(baseURL: server.url(), configuration: configuration, transport: wireTransport())
        }

        /// Takes what is written, and breaks then.
        private final class BreakingLine: TestLine {
            private let isWritten = Gate()

            nonisolated(nonsending) func next() async throws -> [UInt8]? {
                await isWritten.wait()
                throw HTTPError(.connectionLost, "The connection was reset.", phase: .answered)
            }

            nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws { isWritten.open() }
            func close() { isWritten.open() }
        }

        @Test func `A closing whose answer is a reset ends the sequence, and what broke is known`() async throws {
            let client = testClient(baseURL: "https://a.example", transport: StubTransport(socketOver: BreakingLine()))
            let socket = try await client.webSocket("feed").connect()
            try await socket.close()
            for try await _ in socket {}
            #expect(socket.closure?.code == .normal && socket.breakage?.code == .connectionLost)
        }

        /// Closes a socket to a server that reads nothing, in the middle of a message.
        private func closeWhileSending(_ socket: WebSocket) async throws {
            let sending = Task { try await socket.send([UInt8](repeating: 0, count: 64 << 20)) }
            await eventually { socket.metrics.wireBytesSent > 0 }
            let closing = Task { try await socket.close() }
            await clock.pass(.seconds(5))
            try await closing.value
            await #expect(throws: HTTPError.self) { try await sending.value }
            #expect(socket.closure?.code == .normal)
        }

        @Test func `A server that reads nothing isn't waited for too long`() async throws {
            let release = Gate()
            server.enqueue(.webSocket { _ in await release.wait() })
            try await closeWhileSending(client.webSocket("feed").connect())
            release.open()
        }

        @Test(.enabled(if: WebSocketProcess.isThere, "run by Scripts/with-servers, with Scripts/python's packages"))
        func `A server that stands still isn't waited for too long, and one that says no more is lost`() async throws {
            let server = try WebSocketProcess(port: WebSocketProcess.freePort())
            try await server.isReady(for: client)
            let url = "ws://127.0.0.1:\(server.port)"
            let half = try await client.webSocket("\(raw: url)/half").connect()
            var messages = half.makeAsyncIterator()
            let error = await #expect(throws: HTTPError.self) { try await messages.next() }
            #expect((error?.underlying as? WebSocketClosure)?.code == .abnormal)
            await #expect(throws: HTTPError.self) { try await half.send("late") }
            try await closeWhileSending(client.webSocket("\(raw: url)/stop").connect())
            await server.kill()
        }

        @Test func `Closing that is cancelled ends the socket at once`() async throws {
            server.enqueue(.webSocket { socket in while try await socket.next() != nil {} })
            let socket = try await client.webSocket("feed").connect()
            let closing = Task { try await socket.close() }
            await clock.waitForSleepers(1)
            closing.cancel()
            await #expect(throws: CancellationError.self) { try await closing.value }
            #expect(socket.closure?.code == .normal)
            let late = await #expect(throws: HTTPError.self) { try await socket.send("late") }
            #expect(late?.request?.urlText == socket.response.request.urlText)
        }

        @Test(arguments: [(1012, true), (nil, true), (1008, false), (1009, false)] as [(Int?, Bool)])
        func `The error of a socket has its request, and says whether another may help`(code: Int?, mayHelp: Bool) async throws {
            server.enqueue(
                .webSocket { socket in
                    guard let code else { return await socket.disconnect() }
                    try await socket.close(code, "because")
                    _ = try await socket.next()
                })
            let socket = try await client.webSocket("feed?api_key=s3cret").connect()
            var messages = socket.makeAsyncIterator()
            let read = await #expect(throws: HTTPError.self) { try await messages.next() }
            let sent = await #expect(throws: HTTPError.self) { try await socket.send("late") }
            for error in [read, sent] {
                #expect(error?.request?.urlText == socket.response.request.urlText)
                #expect(error?.isTransient == mayHelp)
                let text = error?.description ?? ""
                #expect(text.contains("/feed") && !text.contains("s3cret"))
            }
        }

        @Test func `Closing doesn't wait for a reader who is behind`() async throws {
            server.enqueue(
                .webSocket { socket in
                    for number in UInt8(0)..<8 { try await socket.send([UInt8](repeating: number, count: 100 << 10)) }
                    try await socket.echo()
                })
            let socket = try await client.webSocket("feed").connect()
            await eventually { socket.metrics.messagesReceived == 2 }
            // Two of them are more than half of 256 KiB, so that neither the rest nor an answer is read.
            try await socket.close()
            // The third goes beyond 256 KiB.
            var kept: [UInt8?] = []
            for try await message in socket { kept.append(message.bytes.first) }
            #expect(kept == [0, 1, 2])
        }
    }
#endif
