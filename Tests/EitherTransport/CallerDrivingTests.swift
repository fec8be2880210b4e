#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    @testable import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// Exchanges that are driven by their callers' own threads, since nothing else is under way.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct CallerDrivingTests {
        private let transport = testedTransport()

        /// Sends requests until a caller has driven, and may again: on no machine is a server too slow for that here.
        private func invite(_ url: String, lookInterval: Int32) async throws -> EventLoop {
            let loop = try #require(transport.executor as? EventLoop)
            await onLoop(loop) { (loop.exchanges.limit, loop.exchanges.lookInterval) = (.max, lookInterval) }
            while true {
                // Posting to the loop would call its thread back.
                let drives = loop.inbox.withLock { $0.drives }
                for _ in 0..<20 {
                    #expect(try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes == Array("ok".utf8))
                }
                let (now, driver) = loop.inbox.withLock { ($0.drives, $0.driver) }
                if now > drives, case .none = driver { return loop }
            }
        }

        @Test func `Callers drive when each waits for its answer`() async throws {
            let server = try RawServer.ok()
            let loop = try await invite(server.url, lookInterval: 60_000)
            let before = loop.inbox.withLock { $0.drives }
            for number in 0..<50 {
                var post = request("\(server.url)/\(number)", .buffered(upTo: 10))
                post.method = .post
                post.body = .bytes([1, 2, 3])
                #expect(try await transport.deliver(post).status == 200)
            }
            #expect(loop.inbox.withLock { $0.drives } >= before + 50)
            #expect(server.accepted == 1)
            #expect(await onLoop(loop) { loop.exchanges.driven } > 50)
        }

        @Test func `A caller is let go when the answer takes long`() async throws {
            let late = Late()
            let server = try late.server()
            let loop = try await invite(server.url, lookInterval: 10)
            let wasDriven = Locked(false)
            // Nothing is posted to the loop meanwhile: the resting thread finds out by itself.
            late.work = {
                if loop.inbox.withLock({ $0.driver }) == .caller { wasDriven.withLock { $0 = true } }
                // The thread waits for the sockets in the caller's place.
                Self.wait { loop.inbox.withLock { $0.driver == .thread && $0.isWaiting } }
            }
            while !wasDriven.withLock({ $0 }) {
                #expect(try await transport.deliver(request("\(server.url)/late", .buffered(upTo: 10))).status == 200)
                _ = try await invite(server.url, lookInterval: 10)
            }
        }

        /// Nothing but the loop's thread goes on where the pool of threads has a single one.
        @Test func `Whoever comes meanwhile is served, and so is the first`() async throws {
            let late = Late()
            let server = try late.server()
            _ = try await invite(server.url, lookInterval: 10)
            let url = server.url
            late.work = { [transport] in
                let isServed = DispatchSemaphore(value: 0)
                Task {
                    let response = try? await transport.deliver(request(url, .buffered(upTo: 10)))
                    #expect(response?.status == 200)
                    isServed.signal()
                }
                isServed.wait()
            }
            #expect(try await transport.deliver(request("\(url)/late", .buffered(upTo: 10))).status == 200)
        }

        @Test func `A driven exchange can be cancelled`() async throws {
            let late = Late()
            let server = try late.server()
            let loop = try await invite(server.url, lookInterval: 60_000)
            let task = Locked<Task<HTTPResponse, any Error>?>(nil)
            late.work = {
                #expect(loop.inbox.withLock { $0.driver } == .caller)
                task.withLock { $0 }?.cancel()
            }
            let url = server.url
            task.withLock {
                $0 = Task { [transport] in try await transport.deliver(request("\(url)/late", .buffered(upTo: 10))) }
            }
            let result = await task.withLock { $0 }?.result
            // The answer follows at once, and may come first.
            if case .failure(let error) = result { #expect(error is CancellationError) }
            #expect(await onLoop(loop) { loop.active.isEmpty })
        }

        /// A check that is overdue would have each wait end at once.
        @Test func `A driven exchange looks at deadlines that are due`() async throws {
            let late = Late()
            let server = try late.server()
            let loop = try await invite(server.url, lookInterval: 60_000)
            // The answer comes when the caller waits for it.
            late.work = { Self.wait { loop.inbox.withLock { $0.driver == .caller && $0.isWaiting } } }
            // The lock is what hands the loop over, and nobody drives it now.
            loop.inbox.withLock { _ in loop.nextDeadlineCheck = 1 }
            _ = try await transport.deliver(request("\(server.url)/late", .buffered(upTo: 10)))
            #expect(loop.inbox.withLock { _ in loop.nextDeadlineCheck } > 1)
        }

        @Test func `No caller drives where that is switched off`() async throws {
            let server = try RawServer.ok()
            let transport = testedTransport(configuration: .init(usesCallersThreads: false))
            let loop = try #require(transport.executor as? EventLoop)
            await onLoop(loop) { (loop.exchanges.limit, loop.exchanges.lookInterval) = (.max, 60_000) }
            for _ in 0..<20 { _ = try await transport.deliver(request(server.url, .buffered(upTo: 10))) }
            #expect(loop.inbox.withLock { $0.drives } == 0)
            #expect(loop.inbox.withLock { $0.driver } == .thread)
        }

        @Test func `Closing ends one, and the thread that rests`() async throws {
            let late = Late()
            let server = try late.server()
            let loop = try await invite(server.url, lookInterval: 60_000)
            late.work = { [transport] in
                #expect(loop.inbox.withLock { $0.driver } == .caller)
                transport.close()
                Self.wait { loop.inbox.withLock { $0.isClosed } }
            }
            let error = await httpError { try await transport.deliver(request("\(server.url)/late", .buffered(upTo: 10))) }
            #expect(error?.code == .connection)
        }

        /// - Parameter goesElsewhere: Whether the loop has looked at its sockets for another server's sake before.
        @Test(arguments: [false, true])
        func `What comes on a connection while the thread rests answers nothing`(_ goesElsewhere: Bool) async throws {
            let speak = DispatchSemaphore(value: 0)
            let hasSpoken = DispatchSemaphore(value: 0)
            let server = try RawServer { connection in
                while let head = connection.readHead() {
                    connection.write(RawServer.okResponse)
                    guard head.hasPrefix("GET /last ") else { continue }
                    speak.wait()
                    connection.write("HTTP/1.1 408 Request Timeout\r\nContent-Length: 3\r\n\r\nbye")
                    hasSpoken.signal()
                }
            }
            let other = try RawServer.ok()
            _ = try await invite(server.url, lookInterval: 60_000)
            _ = try await transport.deliver(request("\(server.url)/last", .buffered(upTo: 10)))
            if goesElsewhere { _ = try await transport.deliver(request(other.url, .buffered(upTo: 10))) }
            speak.signal()
            hasSpoken.wait()
            #expect(try await transport.deliver(request(server.url, .buffered(upTo: 10))).body.bytes == Array("ok".utf8))
            #expect(server.accepted == 2)
        }

        /// On a thread of the server's: those of the tasks may all be held up by driving.
        private static func wait(_ isSo: () -> Bool) {
            while !isSo() { usleep(1000) }
        }

        /// Does something on a thread of the server's before it answers.
        private final class Late: Sendable {
            private let todo = Locked<@Sendable () -> Void>({})

            var work: @Sendable () -> Void {
                get { todo.withLock { $0 } }
                set { todo.withLock { $0 = newValue } }
            }

            func server() throws -> RawServer {
                try RawServer { [self] connection in
                    while let head = connection.readHead() {
                        if head.hasPrefix("GET /late ") { work() }
                        connection.write(RawServer.okResponse)
                    }
                }
            }
        }
    }
#endif
