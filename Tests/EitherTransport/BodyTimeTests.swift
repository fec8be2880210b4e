#if os(Linux)
    import Dispatch
    import MidstreamCore
    import MidstreamTransport
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

        @Test func `The time for a head begins when the request's body has left`() async throws {
            let transport = testedTransport(configuration: .init(headTimeout: .seconds(3_600), idleTimeout: nil))
            let loop = try #require(transport.executor as? EventLoop)
            let mayRead = DispatchSemaphore(value: 0)
            let server = try RawServer { connection in
                guard let head = connection.readHead() else { return }
                mayRead.wait()
                if connection.readBody(after: head) != nil { connection.write(RawServer.okResponse) }
            }
            let long = HTTPRequest(.post, server.url, body: .bytes([UInt8](repeating: 1, count: 64 << 20)))
            let slow = Task { try await transport.deliver(long) }
            await eventually { await onLoop(loop) { loop.active.first.map { $0.uploadedBytes > 0 } } == true }
            await passTwoHours(loop)
            mayRead.signal()
            let response = try await slow.value
            #expect(try await response.body.collect() == Array("ok".utf8))
            let silent = try RawServer { $0.waitForEnd() }
            let short = HTTPRequest(.post, silent.url, body: .bytes([1, 2, 3]))
            let unanswered = Task { try await transport.deliver(short) }
            await eventually { await onLoop(loop) { loop.active.first.map { $0.isBegun && !$0.isUploading } } == true }
            await passTwoHours(loop)
            let error = await httpError { try await unanswered.value }
            #expect(error?.code == .timeout)
            #expect(error?.message == "The head of the response didn't come within the time allowed.")
        }
    }
#endif
