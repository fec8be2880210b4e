#if os(Linux)
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamLoop
    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct LoopLoadTests {
        @Test func `Those that are given up before they start leave no loop looking busy`() async throws {
            let settings = WireSettings(TransportConfiguration(eventLoops: 2))
            let group = try LoopGroup(settings.configuration) { try WireLoop(settings, share: $0) }
            for _ in 0..<10 {
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    let transfer = WireTransfer(
                        HTTPRequest("http://127.0.0.1:1/"), ExchangeOptions(), settings: settings, tls: nil,
                        loop: group.preferred, owner: group)
                    _ = try await transfer.response()
                }
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(group.loops.map(\.load) == [0, 0])
            group.close()
            group.waitForEnd()
        }
    }
#endif
