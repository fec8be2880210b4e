#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamTesting
    import MidstreamWebSocket
    import TestSupport
    import Testing

    /// Over loopback, against a server that does what the test says.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct SocketTests {
        private let server: MockServer
        private let client: HTTPClient

        init() throws {
            server = try MockServer()
            client = testClient(baseURL: server.url(), transport: wireTransport())
        }

        private func connect(
            _ configure: (inout WebSocketOptions) -> Void = { _ in },
            _ serve: @escaping @Sendable (MockWebSocket) async throws -> Void
        ) async throws -> WebSocket {
            server.enqueue(.webSocket(compresses: true, serve))
            return try await client.webSocket("feed", configure: configure).connect()
        }

        @Test func `Messages go there and back`() async throws {
            for compression in [WebSocketOptions.Compression.off, .offered] {
                let socket = try await connect({ $0.compression = compression }) { try await $0.echo() }
                #expect(socket.response.status == 101 && socket.isCompressing == (compression == .offered))
                let long = String(repeating: "long ", count: 200_000)
                try await socket.send("hello")
                try await socket.send([1, 2, 3])
                try await socket.send(Data([4]))
                try await socket.send("")
                async let sent: Void = socket.send(long)
                var messages = socket.makeAsyncIterator()
                for expected: WebSocketMessage in [.text("hello"), .binary([1, 2, 3]), .binary([4]), .text(""), .text(long)] {
                    #expect(try await messages.next() == expected)
                }
                try await sent
                let metrics = socket.metrics
                #expect(metrics.messagesSent == 5 && metrics.messagesReceived == 5)
                #expect(metrics.bytesSent == Int64(long.utf8.count + 9) && metrics.bytesReceived == metrics.bytesSent)
                #expect((metrics.wireBytesSent < 100_000) == (compression == .offered))
                try await socket.close()
                #expect(try await messages.next() == nil)
                #expect(socket.closure == nil || socket.closure?.code == .normal)
            }
        }

        @Test func `Messages are compressed from 1 KiB on`() async throws {
            let socket = try await connect({ $0.compression = .offered }) { try await $0.echo() }
            var (messages, wireBytes) = (socket.makeAsyncIterator(), [Int64]())
            for length in [1_023, 1_024] {
                let (text, before) = (String(repeating: "a", count: length), socket.metrics.wireBytesSent)
                try await socket.send(text)
                wireBytes.append(socket.metrics.wireBytesSent - before)
                #expect(try await messages.next() == .text(text))
            }
            #expect(wireBytes[0] > 1_023 && wireBytes[1] < 100)
        }

        @Test func `What several tasks of a server send is whole`() async throws {
            let sent = [UInt8](1...3).map { [UInt8](repeating: $0, count: 8 << 20) }
            let socket = try await connect { socket in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for bytes in sent { group.addTask { try await socket.send(bytes) } }
                    try await group.waitForAll()
                }
                try await socket.echo()
            }
            var (messages, left) = (socket.makeAsyncIterator(), Set(sent))
            while !left.isEmpty, case .binary(let bytes)? = try await messages.next() { left.remove(bytes) }
            #expect(left.isEmpty)
            try await socket.close()
        }

        /// Compressed, it refers to the messages before it.
        @Test func `What a server sends after a message that is cancelled can be read`() async throws {
            let text = (0..<1_000).map { "\($0)" }.joined()
            let socket = try await connect({ $0.compression = .offered }) { socket in
                let cancelled = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await socket.send(text)
                }
                _ = await cancelled.result
                try await socket.send(text)
                try await socket.echo()
            }
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text(text))
            try await socket.close()
        }

        @Test func `Values are encoded and decoded`() async throws {
            struct Quote: Codable, Equatable { var price: Int }
            let socket = try await connect { socket in
                try await socket.echo()
            }
            try await socket.send(json: Quote(price: 7))
            try await socket.send("no quote")
            try await socket.send(json: Quote(price: 8))
            var quotes = socket.values(Quote.self).makeAsyncIterator()
            #expect(try await quotes.next() == Quote(price: 7))
            let error = await #expect(throws: HTTPError.self) { try await quotes.next() }
            #expect(error?.code == .decoding)
            #expect(try await quotes.next() == Quote(price: 8))
        }

        @Test func `Chunks are one message, and none is begun between`() async throws {
            let socket = try await connect { try await $0.echo() }
            let (chunks, source) = AsyncStream.makeStream(of: [UInt8].self)
            let sending = Task { try await socket.send(.binary, chunks: chunks) }
            source.yield([1])
            source.yield([])
            source.yield([2, 3])
            await eventually { socket.metrics.wireBytesSent >= 15 }
            let other = Task { try await socket.send("after") }
            // Control frames may.
            try await socket.ping()
            source.finish()
            try await sending.value
            try await other.value
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .binary([1, 2, 3]))
            #expect(try await messages.next() == .text("after"))
            try await socket.send(.text, chunks: AsyncStream<[UInt8]> { $0.finish() })
            #expect(try await messages.next() == .text(""))
        }

        @Test func `Half a message ends the socket`() async throws {
            struct Broken: Error {}
            for bytes: [UInt8]? in [nil, [0x61, 0xFF]] {
                let socket = try await connect { try await $0.echo() }
                let chunks = AsyncThrowingStream<[UInt8], any Error> { source in
                    source.yield([0x61])
                    if let bytes { source.yield(bytes) } else { source.finish(throwing: Broken()) }
                }
                await #expect(throws: (any Error).self) { try await socket.send(.text, chunks: chunks) }
                await #expect(throws: HTTPError.self) { try await socket.send("x") }
                #expect(socket.closure?.code == .goingAway)
            }
        }

        @Test func `There is one reader`() async throws {
            let socket = try await connect { try await $0.echo() }
            try await socket.send("a")
            var first = socket.makeAsyncIterator()
            var second = socket.makeAsyncIterator()
            await #expect(throws: HTTPError.self) { try await second.next() }
            #expect(try await first.next() == .text("a"))
        }

        // MARK: The end

        @Test func `The server's close ends the sequence, or fails it`() async throws {
            for (code, isClean) in [(1000, true), (1001, true), (1011, false), (4_000, false)] {
                let socket = try await connect { socket in
                    try await socket.send("last")
                    try await socket.close(code, "so it is")
                    let answer = try await socket.next()
                    #expect(answer == .close(code, ""))
                }
                var messages = socket.makeAsyncIterator()
                #expect(try await messages.next() == .text("last"))
                if isClean {
                    #expect(try await messages.next() == nil)
                } else {
                    let error = await #expect(throws: HTTPError.self) { try await messages.next() }
                    #expect(error?.code == .connectionLost)
                }
                #expect(socket.closure == WebSocketClosure(code: .init(rawValue: UInt16(code)), reason: "so it is", byPeer: true))
                let error = await #expect(throws: HTTPError.self) { try await socket.send("x") }
                #expect(error?.code == .connectionLost)
            }
        }

        @Test func `A close without a code is answered by one without`() async throws {
            let socket = try await connect { socket in
                try await socket.close(nil)
                let answer = try await socket.next()
                #expect(answer == .close(nil, ""))
            }
            var messages = socket.makeAsyncIterator()
            await #expect(throws: HTTPError.self) { try await messages.next() }
            #expect(socket.closure?.code == WebSocketClosure.Code.none)
        }

        @Test func `Closing twice, and on both sides at once, is closing once`() async throws {
            let socket = try await connect { socket in
                try await socket.close(1001)
                let event = try await socket.next()
                if case .close = event {} else { Issue.record("\(String(describing: event))") }
                let end = try await socket.next()
                #expect(end == nil)
            }
            async let first: Void = socket.close(.normal, "bye")
            async let second: Void = socket.close(4_001)
            _ = try await (first, second)
            try await socket.close()
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == nil)
            await #expect(throws: HTTPError.self) { try await socket.close(1005) }
            await #expect(throws: HTTPError.self) { try await socket.send("late") }
        }

        @Test func `What comes before the answer to a close can be read`() async throws {
            let socket = try await connect { socket in
                try await socket.send("before")
                guard case .close? = try await socket.next() else { return }
                try await socket.send("meanwhile")
                try await socket.close()
            }
            try await socket.close()
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("before"))
            #expect(try await messages.next() == .text("meanwhile"))
            #expect(try await messages.next() == nil)
        }

        @Test func `A server that doesn't answer a close isn't waited for too long`() async throws {
            let clock = TestClock()
            let configuration = HTTPClient.Configuration(timeout: nil, clock: clock)
            let client = testClient(baseURL: server.url(), configuration: configuration, transport: wireTransport())
            server.enqueue(.webSocket { socket in while try await socket.next() != nil {} })
            let socket = try await client.webSocket("a").connect()
            let closing = Task { try await socket.close() }
            await clock.pass(.seconds(5))
            try await closing.value
            #expect(socket.closure?.code == .normal)
        }

        @Test func `What breaks the rules closes the socket with its code`() async throws {
            let frames: [(MockWebSocket.Frame, Int)] = [
                (.init(opcode: 1, payload: [0xFF]), 1007), (.init(opcode: 3), 1002), (.init(opcode: 1, isMasked: true), 1002),
                (.init(opcode: 1, reservedBits: 2), 1002), (.init(opcode: 2, payload: [UInt8](repeating: 0, count: 1_001)), 1009),
                (.init(opcode: 0), 1002), (.init(opcode: 8, payload: [0x03, 0xED]), 1002),
            ]
            for (frame, code) in frames {
                let socket = try await connect({ $0.maximumMessage = 1_000 }) { socket in
                    try await socket.send("before")
                    try await socket.send(frame)
                    let event = try await socket.next()
                    guard case .close(code, _)? = event else {
                        Issue.record("\(String(describing: event)) for \(frame)")
                        return
                    }
                }
                var messages = socket.makeAsyncIterator()
                #expect(try await messages.next() == .text("before"))
                let error = await #expect(throws: HTTPError.self) { try await messages.next() }
                #expect(error?.code == .connectionLost)
                #expect(socket.closure?.code.rawValue == UInt16(code) && socket.closure?.byPeer == false)
            }
        }

        @Test func `A bomb closes the socket, and a frame that is cut loses it`() async throws {
            let bombed = try await connect({ $0.compression = .offered }) { socket in
                try await socket.sendBomb(inflatingTo: 40 << 20)
                _ = try await socket.next()
            }
            var messages = bombed.makeAsyncIterator()
            await #expect(throws: HTTPError.self) { try await messages.next() }
            #expect(bombed.closure?.code == .tooLarge)
            let cut = try await connect { try await $0.send(.init(opcode: 1, payload: [1, 2, 3], cut: 4)) }
            var rest = cut.makeAsyncIterator()
            await #expect(throws: HTTPError.self) { try await rest.next() }
            #expect(cut.closure?.code == .abnormal)
        }

        @Test func `A server that dies ends reading and sending`() async throws {
            let socket = try await connect { socket in
                _ = try await socket.next()
                await socket.disconnect()
            }
            try await socket.send("die")
            var messages = socket.makeAsyncIterator()
            let error = await #expect(throws: HTTPError.self) { try await messages.next() }
            #expect(error?.code == .connectionLost)
            await #expect(throws: HTTPError.self) { while true { try await socket.send("x") } }
            try await socket.close()
        }

        @Test func `A socket that is released is closed`() async throws {
            let left = Gate()
            do {
                let socket = try await connect { socket in
                    while let event = try? await socket.next() { if case .close = event { break } }
                    left.open()
                }
                try await socket.send("a")
            }
            await left.wait()
        }

        // MARK: Crossings

        @Test func `Sending doesn't wait for the reader, nor reading for the sender`() async throws {
            let total = 200
            let piece = String(repeating: "x", count: 64 << 10)
            let socket = try await connect { socket in
                // Floods, and reads nothing before.
                for _ in 0..<total { try await socket.send(piece) }
                var count = 0
                while count < total, case .text? = try await socket.next() { count += 1 }
                try await socket.close()
                _ = try await socket.next()
            }
            let sending = Task { for _ in 0..<total { try await socket.send(piece) } }
            // Nothing is read until the other side is held up.
            await eventually { socket.metrics.messagesReceived >= 2 }
            #expect(socket.metrics.messagesReceived < total)
            var count = 0
            for try await message in socket {
                #expect(message == .text(piece))
                count += 1
            }
            #expect(count == total)
            try await sending.value
        }

        @Test func `A send that is cancelled before its first byte is taken back`() async throws {
            let socket = try await connect { try await $0.echo() }
            let (chunks, source) = AsyncStream.makeStream(of: [UInt8].self)
            let first = Task { try await socket.send(.binary, chunks: chunks) }
            source.yield([1])
            await eventually { socket.metrics.wireBytesSent > 0 }
            let second = Task { try await socket.send("never") }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            source.finish()
            try await first.value
            try await socket.send("then")
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .binary([1]))
            #expect(try await messages.next() == .text("then"))
        }

        @Test func `Chunks are taken back when none has been sent before they are cancelled`() async throws {
            let socket = try await connect { try await $0.echo() }
            let sending = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await socket.send(.binary, chunks: AsyncStream<[UInt8]> { $0.finish() })
            }
            await #expect(throws: CancellationError.self) { try await sending.value }
            try await socket.send("then")
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("then"))
        }

        @Test func `A send that is cancelled in its middle ends the socket`() async throws {
            let release = Gate()
            let socket = try await connect { _ in await release.wait() }
            let sending = Task { try await socket.send([UInt8](repeating: 0, count: 64 << 20)) }
            await eventually { socket.metrics.wireBytesSent > 0 }
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
            var messages = socket.makeAsyncIterator()
            await #expect(throws: HTTPError.self) { try await messages.next() }
            // The reader may be the first to find the connection closed.
            #expect([.goingAway, .abnormal].contains(socket.closure?.code))
            release.open()
        }

        @Test func `A cancelled reader leaves the socket open`() async throws {
            let socket = try await connect { try await $0.echo() }
            var messages = socket.makeAsyncIterator()
            let reading = Task { [messages] in
                var messages = messages
                return try await messages.next()
            }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            try await socket.send("still here")
            #expect(try await messages.next() == .text("still here"))
        }

        @Test func `The server's close during a send is told by the reader`() async throws {
            let socket = try await connect { socket in
                try await socket.close(1012, "restart")
                while let event = try await socket.next() { if case .close = event { break } }
            }
            var failure: HTTPError?
            do {
                while true { try await socket.send([UInt8](repeating: 0, count: 1 << 20)) }
            } catch let error as HTTPError {
                failure = error
            }
            #expect(failure?.code == .connectionLost)
            var messages = socket.makeAsyncIterator()
            await #expect(throws: HTTPError.self) { try await messages.next() }
            #expect(socket.closure?.code == .restart && socket.closure?.byPeer == true)
        }
    }
#endif
