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

        @Test func `Connections for other protocols have all that are allowed, whatever loop their tasks run on`() async throws {
            // More than a socket takes at once, so that the rest is the loop's to send.
            let size = 16 << 20
            let server = try RawServer { connection in
                var rest = size
                while rest > 0, let bytes = connection.readSome() {
                    rest -= bytes.count
                    if rest == 0 { connection.write([bytes[bytes.count - 1]]) }
                }
                connection.waitForEnd()
            }
            let transport = wireTransport(configuration: TransportConfiguration(maximumConnectionsPerHost: 3, eventLoops: 3))
            let origin = try #require(HTTPOrigin(server.url))
            let answers = await withTaskExecutorPreference(transport.executor) {
                await withTaskGroup(of: [UInt8]?.self) { group in
                    let allStand = Gate()
                    for number in 0..<3 {
                        group.addTask {
                            guard let channel = try? await transport.connect(to: origin, tls: nil, timeout: .seconds(600)) else {
                                return nil
                            }
                            await allStand.wait()
                            try? await channel.write(Array(repeating: UInt8(number), count: size))
                            defer { channel.close() }
                            return try? await channel.read()
                        }
                    }
                    await allStand.reached(by: 3)
                    allStand.open()
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            #expect(Set(answers.map { $0 ?? [] }) == [[0], [1], [2]])
        }
    }
#endif
