#if os(Linux)
    import Foundation
    import Interception
    import LibraryInterposition
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    /// What comes on a connection unasked answers nothing (RFC 9112 §9.2).
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct StrayBytesTests {
        private let transport = testedTransport()
        private static let farewell = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 3\r\n\r\nbye"

        /// Answers requests by their path, and says farewell on the first connection when told to.
        private final class Server: Sendable {
            let raw: RawServer
            let seen: Locked<[String]>
            private let speak = DispatchSemaphore(value: 0)
            private let hasSpoken = DispatchSemaphore(value: 0)

            /// - Parameters:
            ///   - first: The answer to the first request.
            ///   - endsAfterwards: Whether the farewell is followed by the connection's end.
            init(first: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/1", endsAfterwards: Bool) throws {
                let seen = Locked<[String]>([])
                self.seen = seen
                raw = try RawServer { [speak, hasSpoken] connection in
                    while let request = connection.readRequest() {
                        let line = request.lines[0].split(separator: " ")
                        let isFirst = seen.withLock { seen in
                            seen.append("\(line[0]) \(line[1])")
                            return seen.count == 1
                        }
                        guard isFirst else {
                            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(line[1].count)\r\n\r\n\(line[1])")
                            continue
                        }
                        connection.write(first)
                        speak.wait()
                        connection.write(StrayBytesTests.farewell)
                        hasSpoken.signal()
                        if endsAfterwards { return }
                    }
                }
            }

            /// Returns when the farewell is in the hands of this machine's kernel.
            func sayFarewell() {
                speak.signal()
                hasSpoken.wait()
            }
        }

        @Test(arguments: [true, false]) func `A farewell on an idle connection answers no request`(_ endsAfterwards: Bool)
            async throws
        {
            let server = try Server(endsAfterwards: endsAfterwards)
            let loop = try #require(transport.executor as? EventLoop)
            _ = try await transport.deliver(request("\(server.raw.url)/1", .buffered(upTo: 10)))
            server.sayFarewell()
            // The loop gets to look at its sockets.
            await eventually { await onLoop(loop, { hasBuriedConnection(loop) }) }
            try await expectOwnAnswers(of: server, resends: 0)
        }

        /// The loop's thread is kept from looking at its sockets until the next request has begun.
        @Test(arguments: [true, false]) func `Nor does one that nobody has looked at yet`(_ endsAfterwards: Bool) async throws {
            let server = try Server(endsAfterwards: endsAfterwards)
            let loop = try #require(transport.executor as? EventLoop)
            try await withTaskExecutorPreference(loop) {
                _ = try await transport.deliver(request("\(server.raw.url)/1", .buffered(upTo: 10)))
                server.sayFarewell()
                try await expectOwnAnswers(of: server, resends: 0)
            }
        }

        /// A task that keeps the loop's thread for longer than what that has seen before says anything.
        @Test(arguments: [true, false]) func `Nor does one while a task computes`(_ endsAfterwards: Bool) async throws {
            let server = try Server(endsAfterwards: endsAfterwards)
            let loop = try #require(transport.executor as? EventLoop)
            try await withTaskExecutorPreference(loop) {
                _ = try await transport.deliver(request("\(server.raw.url)/1", .buffered(upTo: 10)))
                let waits = loop.waits
                await eventually { loop.lastWholeWait > waits }
                server.sayFarewell()
                compute()
                try await expectOwnAnswers(of: server, resends: 0)
            }
        }

        private func expectOwnAnswers(of server: Server, resends: Int) async throws {
            var post = request("\(server.raw.url)/2", .buffered(upTo: 10))
            post.method = .post
            post.body = .bytes([1, 2, 3])
            for (request, path) in [(post, "/2"), (request("\(server.raw.url)/3", .buffered(upTo: 10)), "/3")] {
                let response = try await transport.deliver(request)
                #expect(response.status == 200)
                #expect(response.body.bytes == Array(path.utf8))
                #expect(response.metrics?.resends == resends)
            }
            #expect(server.seen.withLock { $0 } == ["GET /1", "POST /2", "GET /3"])
            #expect(server.raw.accepted == 2)
        }

        @Test(arguments: [
            "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        ]) func `What follows a whole answer at once answers nothing`(_ first: String) async throws {
            for stray in [Self.farewell, "garbage", "HTTP/1.1 2"] {
                let server = try RawServer { connection in
                    var isFirst = true
                    while let request = connection.readRequest() {
                        let path = request.lines[0].split(separator: " ")[1]
                        let own = "HTTP/1.1 200 OK\r\nContent-Length: \(path.count)\r\n\r\n\(path)"
                        connection.write(path == "/1" && isFirst ? first + stray : own)
                        isFirst = false
                    }
                }
                _ = try await transport.deliver(request("\(server.url)/1", .buffered(upTo: 10)))
                for path in ["/2", "/3"] {
                    let response = try await transport.deliver(request("\(server.url)\(path)", .buffered(upTo: 10)))
                    #expect(response.status == 200)
                    #expect(response.body.bytes == Array(path.utf8))
                }
                // Whose the rest of it may be, which is on its way, nobody knows.
                if closesBehindStrayBytes { #expect(server.accepted == 2) }
            }
        }

        @Test func `A HEAD with a body brings nothing to the next request`() async throws {
            let server = try RawServer { connection in
                while let request = connection.readRequest() {
                    let path = request.lines[0].split(separator: " ")[1]
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(path.count)\r\n\r\n\(path)")
                }
            }
            for path in ["/1", "/2", "/3"] {
                _ = try await transport.deliver(HTTPRequest(.head, "\(raw: server.url)/head"))
                let response = try await transport.deliver(request("\(server.url)\(path)", .buffered(upTo: 10)))
                #expect(response.body.bytes == Array(path.utf8))
            }
        }

        /// A connection whose reader is behind is readable, too.
        @Test func `A response that waits for its reader is left alone`() async throws {
            let server = try RawServer.answering { _ in
                "HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + String(repeating: "a", count: 4_000_000)
            }
            let loop = try #require(transport.executor as? EventLoop)
            for _ in 0..<3 {
                let response = try await transport.deliver(request(server.url, .streamed))
                await eventually { await onLoop(loop, { loop.active.contains { $0.isReceivingPaused } }) }
                // Turns of the loop in which it sees the socket readable.
                for _ in 0..<20 { await onLoop(loop) {} }
                #expect(try await response.body.collect().count == 4_000_000)
            }
            #expect(server.accepted == 1)
        }
    }

    /// Takes 2 ms of the present thread: for a loop, a long job.
    func compute() {
        let end = MonotonicTime.now() + 2_000_000
        while MonotonicTime.now() < end {}
    }

    /// Runs a piece of code on a loop's thread.
    func onLoop<Value: Sendable>(_ loop: EventLoop, _ body: @Sendable () -> Value) async -> Value {
        await withTaskExecutorPreference(loop) { await here(body) }
    }

    // Not inherited from the caller, so that the preference decides where it runs.
    @concurrent private func here<Value: Sendable>(_ body: @Sendable () -> Value) async -> Value { body() }
#endif
