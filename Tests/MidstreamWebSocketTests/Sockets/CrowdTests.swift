#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamTesting
    import MidstreamWebSocket
    import MidstreamWire
    import TestSupport
    import Testing

    /// Many sockets of one client: two hundred, or as many as `MIDSTREAM_CROWD` says.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct CrowdTests {
        private static let size = ProcessInfo.processInfo.environment["MIDSTREAM_CROWD"].flatMap { Int($0) } ?? 200

        private let transport: WireTransport = {
            var configuration = TransportConfiguration()
            configuration.maximumConnectionsPerHost = nil
            configuration.maximumConnections = nil
            return wireTransport(configuration: configuration)
        }()

        init() {
            raiseDescriptorLimit()
        }

        @Test(.enabled(if: WebSocketProcess.isThere, "run by Scripts/with-servers, with Scripts/python's packages"))
        func `Each of many idle sockets gets its message`() async throws {
            let server = try WebSocketProcess(port: WebSocketProcess.freePort())
            let client = testClient(transport: transport)
            try await server.isReady(for: client)
            // As many at a time as the server lets wait.
            var sockets: [WebSocket] = []
            try await withThrowingTaskGroup(of: WebSocket.self) { group in
                for number in 0..<Self.size {
                    if number >= 50, let socket = try await group.next() { sockets.append(socket) }
                    group.addTask { try await client.webSocket("\(raw: server.url)").connect() }
                }
                for try await socket in group { sockets.append(socket) }
            }
            await eventually { await transport.statistics.openConnections == Self.size }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, socket) in sockets.enumerated() {
                    group.addTask {
                        var messages = socket.makeAsyncIterator()
                        let message = try await messages.next()
                        #expect(message == .text("\(number)"))
                    }
                }
                for (number, socket) in sockets.enumerated() { try await socket.send("\(number)") }
                try await group.waitForAll()
            }
            #expect(sockets.allSatisfy { $0.closure == nil })
            sockets = []
            await eventually { await transport.statistics.openConnections == 0 }
            await server.kill()
        }

        private struct Record {
            var opened = 0
            var lost = 0
            var echoed = 0
            /// How long each waited at first.
            var delays: [Duration] = []
            var attempts = 0
        }

        @Test(.enabled(if: WebSocketProcess.isThere, "run by Scripts/with-servers, with Scripts/python's packages"))
        func `A crowd comes back with its server, spread over time`() async throws {
            let count = max(20, Self.size / 10)
            let first = try WebSocketProcess(port: WebSocketProcess.freePort())
            let client = testClient(transport: transport)
            try await first.isReady(for: client)

            let record = Locked(Record())
            let feeds = (0..<count).map { _ in
                client.webSocket("\(raw: first.url)").reconnecting(.exponential(base: .seconds(1), cap: .seconds(4))) { _, _ in
                    record.withLock { $0.attempts += 1 }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for feed in feeds {
                    group.addTask {
                        var hasBeenLost = false
                        for try await event in feed {
                            record.withLock { record in
                                switch event {
                                case .opened: record.opened += 1
                                case .message: record.echoed += 1
                                case .lost(_, let delay):
                                    record.lost += 1
                                    if !hasBeenLost { record.delays.append(delay) }
                                    hasBeenLost = true
                                }
                            }
                        }
                    }
                }
                await eventually { record.withLock { $0.opened } == count }
                await first.kill()
                await eventually { record.withLock { $0.delays.count } == count }
                let second = try WebSocketProcess(port: first.port)
                await eventually { record.withLock { $0.opened } == 2 * count }
                for feed in feeds { try await feed.send("back") }
                await eventually { record.withLock { $0.echoed } == count }
                for feed in feeds { try await feed.close() }
                try await group.waitForAll()
                await second.kill()
            }
            let result = record.withLock { $0 }
            // By chance, so not evenly: in no tenth of the second that the first attempts are spread over are more than half of them.
            for tenth in 0..<10 {
                let range = Duration.milliseconds(100 * tenth)..<Duration.milliseconds(100 * (tenth + 1))
                #expect(result.delays.count { range.contains($0) } <= count / 2)
            }
            #expect(result.delays.allSatisfy { $0 <= .seconds(1) })
            #expect(result.attempts >= count && result.lost == result.attempts)
            await eventually { await transport.statistics.openConnections == 0 }
        }

        @Test func `A crowd comes back after one delay, though the budget has nothing`() async throws {
            // The server has a thread for each.
            let count = min(200, Self.size)
            let server = try MockServer()
            server.respond { _ in .webSocket { try await $0.echo() } }
            let clock = TestClock()
            let configuration = HTTPClient.Configuration(
                timeout: nil, retryBudget: RetryBudget(share: 0, reserve: 0), clock: clock,
                random: { Double.random(in: 0.01..<1) })
            let client = testClient(baseURL: server.url(), configuration: configuration, transport: transport)
            let record = Locked(Record())
            let feeds = (0..<count).map { _ in client.webSocket("feed").reconnecting() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for feed in feeds {
                    group.addTask {
                        for try await event in feed {
                            record.withLock { record in
                                switch event {
                                case .opened: record.opened += 1
                                case .message: record.echoed += 1
                                case .lost(_, let delay):
                                    record.lost += 1
                                    record.delays.append(delay)
                                }
                            }
                        }
                    }
                }
                await eventually { record.withLock { $0.opened } == count }
                server.closeConnections()
                await clock.waitForSleepers(count)
                // Each waits for a part of it.
                clock.advance(by: .seconds(1))
                await eventually { record.withLock { $0.opened + $0.lost } >= 3 * count }
                #expect(record.withLock { $0.opened } == 2 * count)
                #expect(Set(record.withLock { $0.delays }).count > 1)
                for feed in feeds { try await feed.close() }
                try await group.waitForAll()
            }
        }
    }
#endif
