#if os(Linux)
    import Interception
    import MidstreamCore
    import TestSupport
    import Testing

    @testable import MidstreamLoop

    /// What a request's body takes of the time allowed.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct BodyTimeTests {
        private static let hour: UInt64 = 3_600_000_000_000

        /// Ends what a loop would end two hours later.
        private func passTwoHours(_ loop: EventLoop) async {
            await onLoop(loop) {
                loop.clock.pointee += 2 * Self.hour
                loop.checkDeadlines()
            }
        }

        private let inAnHour = ExchangeOptions(delivery: .buffered(upTo: 10), timeLimit: .seconds(3_600))

        @Test func `A body that doesn't come in time is no failure of the server`() async throws {
            let transport = testedTransport()
            let loop = try #require(transport.executor as? EventLoop)
            let server = try RawServer { $0.waitForEnd() }
            let (chunks, feed) = AsyncStream.makeStream(of: [UInt8].self)
            defer { feed.finish() }
            let upload = HTTPRequest(.post, server.url, body: .once(chunks))
            let task = Task { [inAnHour] in try await transport.send(upload, inAnHour) }
            await eventually { await onLoop(loop) { loop.active.first?.awaitsBody } == true }
            await passTwoHours(loop)
            let error = await httpError { try await task.value }
            #expect(error?.code == .timeout && error?.isRefusedHere == true)
            #expect(error?.message == "The request's body didn't come within the time allowed.")
        }

        @Test func `A body that the server doesn't take in time is`() async throws {
            let transport = testedTransport()
            let loop = try #require(transport.executor as? EventLoop)
            let server = try RawServer { $0.waitForHangUp() }
            let upload = HTTPRequest(.post, server.url, body: .bytes([UInt8](repeating: 1, count: 64 << 20)))
            let task = Task { [inAnHour] in try await transport.send(upload, inAnHour) }
            await eventually { await onLoop(loop) { loop.active.first.map { $0.uploadedBytes > 0 } } == true }
            await passTwoHours(loop)
            let error = await httpError { try await task.value }
            #expect(error?.code == .timeout && error?.isRefusedHere == false)
            #expect(error?.message == "The request's body wasn't sent within the time allowed.")
        }
    }
#endif
