#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamTransport
    import MidstreamWire
    import TestSupport
    import Testing

    /// Many connections at once: two hundred, or as many as `MIDSTREAM_CROWD` says.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct CrowdTests {
        private static let size = ProcessInfo.processInfo.environment["MIDSTREAM_CROWD"].flatMap { Int($0) } ?? 200

        init() { raiseDescriptorLimit() }

        /// All of the crowd are under way at once, and each of them is done with three calls while the one still waits.
        @Test func `A stalled connection costs a crowd of others nothing`() async throws {
            let server = try CrowdServer(crowd: Self.size - 1)
            let transport = wireTransport(configuration: .init(maximumConnectionsPerHost: Self.size))
            let client = testClient(baseURL: server.url, transport: transport)
            let isOver = Locked(false)
            let stalled = Task {
                defer { isOver.withLock { $0 = true } }
                return try await client.send(HTTPRequest("/stalled")).body.collect()
            }
            await eventually { server.isStalling }

            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1..<Self.size {
                    group.addTask {
                        for _ in 1...3 {
                            let body = try await client.send(HTTPRequest("/")).body.collect()
                            #expect(body == Array("ok".utf8))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.accepted == Self.size)
            let isStillWaiting = server.isStalling && !isOver.withLock { $0 }
            #expect(isStillWaiting)
            #expect(await transport.statistics.activeRequests == 1)
            server.endStall()
            #expect(try await stalled.value == Array("ok".utf8))
        }
    }
#endif
