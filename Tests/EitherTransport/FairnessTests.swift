#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// Who has to wait for a connection.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct FairnessTests {
        private func transport(_ limit: Int, _ change: (inout TransportConfiguration) -> Void = { _ in }) -> any LoopTransport {
            var configuration = TransportConfiguration()
            configuration.maximumConnectionsPerHost = limit
            change(&configuration)
            return testedTransport(configuration: configuration)
        }

        /// With one connection, since the server's threads see several in any order.
        @Test func `First come, first served`() async throws {
            let seen = Locked<[Int]>([])
            let server = try RawServer { connection in
                while let head = connection.readHead() {
                    seen.withLock { $0.append(Int(head.split(separator: " ")[1].dropFirst()) ?? -1) }
                    connection.write(RawServer.okResponse)
                }
            }
            let transport = transport(1)
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            // On the loop's thread, requests begin in the order of the tasks; each answer brings a newcomer.
            await withTaskExecutorPreference(loop) {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            _ = try? await transport.deliver(request("\(url)/\(number)", .buffered(upTo: 10)))
                            _ = try? await transport.deliver(request("\(url)/\(number + 100)", .buffered(upTo: 10)))
                        }
                    }
                }
            }
            let order = seen.withLock { $0 }
            #expect(Set(order) == Set(0..<200))
            for (place, number) in order.enumerated() {
                #expect(abs(place - number) <= (number < 100 ? 0 : 1), "\(number) at \(place)")
            }
        }

        @Test func `Those that wait can be given up, and have their time`() async throws {
            let gate = DispatchSemaphore(value: 0)
            let server = try RawServer { connection in
                while let head = connection.readHead() {
                    if head.hasPrefix("GET /first") { gate.wait() }
                    connection.write(RawServer.okResponse)
                }
            }
            let transport = transport(1)
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            let first = Task { try await transport.deliver(request("\(url)/first", .buffered(upTo: 10))) }
            await eventually { await onLoop(loop, { loop.active.count }) != 0 }
            let second = Task { try await transport.deliver(request("\(url)/second", .buffered(upTo: 10))) }
            await eventually { await onLoop(loop, { loop.admission.waitingCount }) != 0 }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            let error = await #expect(throws: HTTPError.self) {
                let options = ExchangeOptions(delivery: .buffered(upTo: 10), timeLimit: .milliseconds(20))
                _ = try await transport.send(HTTPRequest(url), options)
            }
            #expect(error?.code == .timeout && error?.phase == .notSent)
            #expect(error?.metrics != nil && error?.metrics?.connect == nil)
            let third = Task { try await transport.deliver(request("\(url)/third", .buffered(upTo: 10))) }
            await eventually { await onLoop(loop, { loop.admission.waitingCount }) != 0 }
            gate.signal()
            #expect(try await first.value.status == 200)
            #expect(try await third.value.status == 200)
            #expect(server.accepted == 1)
            #expect(await onLoop(loop) { loop.admission.waitingCount } == 0)
        }

        @Test func `Those whose time is over in one look hear it, also who waits for the connection of another`() async throws {
            let server = try RawServer { connection in while connection.readHead() != nil {} }
            let transport = transport(1)
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            let errors = await withTaskGroup(of: (any Error)?.self) { group in
                for _ in 0..<2 {
                    // In one turn of the loop.
                    group.addTask(executorPreference: loop) {
                        let options = ExchangeOptions(delivery: .buffered(upTo: 10), timeLimit: .nanoseconds(1))
                        do {
                            _ = try await transport.send(HTTPRequest(url), options)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(errors.map { ($0 as? HTTPError)?.code } == [.timeout, .timeout])
        }

        /// Something that a request's body has, and that counts what there is of its kind.
        private final class Content: Sendable {
            private let count: Locked<Int>

            init(countedIn count: Locked<Int>) {
                self.count = count
                count.withLock { $0 += 1 }
            }

            deinit { count.withLock { $0 -= 1 } }

            var chunks: AsyncStream<[UInt8]> { AsyncStream { $0.finish() } }
        }

        @Test func `Those that were given up are let go while no connection becomes free`() async throws {
            let gate = DispatchSemaphore(value: 0)
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                gate.wait()
                connection.write(RawServer.okResponse)
            }
            let transport = transport(1)
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            let first = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await eventually { await onLoop(loop, { loop.active.count }) != 0 }
            let count = Locked(0)
            for _ in 0..<40 {
                let givenUp = Task {
                    let content = Content(countedIn: count)
                    _ = try await transport.deliver(HTTPRequest(.post, url, body: .stream { content.chunks }))
                }
                await eventually { await onLoop(loop, { loop.admission.waitingCount }) != 0 }
                givenUp.cancel()
                _ = await givenUp.result
            }
            // A few may stay.
            await eventually(within: .seconds(120)) { count.withLock { $0 } <= 16 }
            #expect(count.withLock { $0 } <= 16)
            gate.signal()
            #expect(try await first.value.status == 200)
        }

        @Test func `A limit of all connections makes the requests to every host wait in line`() async throws {
            let gate = DispatchSemaphore(value: 0)
            let seen = Locked<[String]>([])
            let servers = try (0..<3).map { _ in
                try RawServer { connection in
                    while let head = connection.readHead() {
                        seen.withLock { $0.append(String(head.split(separator: " ")[1])) }
                        if head.hasPrefix("GET /0 ") { gate.wait() }
                        connection.write(RawServer.okResponse)
                    }
                }
            }
            let transport = transport(2) { $0.maximumConnections = 1 }
            let loop = try #require(transport.executor as? EventLoop)
            var tasks: [Task<HTTPResponse, any Error>] = []
            for number in 0..<6 {
                let url = "\(servers[number % 3].url)/\(number)"
                tasks.append(Task { try await transport.deliver(request(url, .buffered(upTo: 10))) })
                await eventually { await onLoop(loop, { loop.active.count + loop.admission.waitingCount }) == number + 1 }
            }
            // No more than the limit are with curl.
            #expect(await onLoop(loop) { loop.active.count } == 1)
            tasks[3].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[3].value }
            gate.signal()
            for number in [0, 1, 2, 4, 5] { #expect(try await tasks[number].value.status == 200) }
            #expect(seen.withLock { $0 } == ["/0", "/1", "/2", "/4", "/5"])
            #expect(await onLoop(loop) { loop.admission.waitingCount } == 0)
            withExtendedLifetime(servers) {}
        }

        /// Curl needs time for each chunk, however small it is.
        @Test func `No turn takes more than some thousand pieces of bodies`() async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                let chunks = Array(repeatElement(Array("1\r\nx\r\n".utf8), count: 10_000).joined())
                for _ in 0..<20 { connection.write(chunks) }
                connection.write("0\r\n\r\n")
            }
            let transport = transport(8)
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            // Kept from reading until there is much to read at once.
            let bodies = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await transport.deliver(request(url, .buffered(upTo: .max))).body.bytes?.count ?? 0 }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(bodies == Array(repeating: 200_000, count: 8))
            #expect(await onLoop(loop) { loop.decoding.mostPieces } <= 4_096)
        }

        @Test func `Closing ends those that wait`() async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.waitForEnd()
            }
            let transport = transport(1)
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            let tasks = (0..<3).map { _ in Task { try await transport.deliver(request(url, .buffered(upTo: 10))) } }
            await eventually { await onLoop(loop, { loop.admission.waitingCount }) >= 2 }
            transport.close()
            for task in tasks {
                let error = await #expect(throws: HTTPError.self) { try await task.value }
                #expect(error?.code == .connection)
            }
        }
    }
#endif
