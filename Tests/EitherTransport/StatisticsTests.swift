#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct StatisticsTests {
        private typealias Counts = TransportStatistics

        /// Answers `/held` when it is told to, and everything else at once.
        private func server(_ gate: DispatchSemaphore) throws -> RawServer {
            try RawServer { connection in
                while let head = connection.readHead() {
                    if head.contains("/held") { gate.wait() }
                    connection.write(RawServer.okResponse)
                }
            }
        }

        @Test(arguments: [1, 2]) func `Connections and requests are counted by origin`(_ loops: Int) async throws {
            let (gate, otherGate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let (server, other) = (try server(gate), try server(otherGate))
            // The limit is divided among the loops.
            let transport = testedTransport(configuration: .init(maximumConnectionsPerHost: loops, eventLoops: loops))
            #expect(await transport.statistics == TransportStatistics())

            let url = server.url
            let held = (0..<(loops * 3)).map { _ in
                Task { try await transport.deliver(request("\(url)/held", .buffered(upTo: 10))) }
            }
            let expected = Counts(openConnections: loops, activeRequests: loops, waitingRequests: loops * 2)
            await eventually { await transport.statistics.origins == [url: expected] }
            #expect(await transport.statistics.counts == expected)

            _ = try await transport.deliver(request("\(other.url)/?http://elsewhere", .buffered(upTo: 10)))
            let statistics = await transport.statistics
            #expect(statistics.origins == [url: expected, other.url: Counts(openConnections: 1, idleConnections: 1)])
            #expect(statistics.counts == expected + Counts(openConnections: 1, idleConnections: 1))

            for _ in held { gate.signal() }
            for task in held { _ = try await task.value }
            let rest = Counts(openConnections: loops, idleConnections: loops)
            #expect(await transport.statistics.origins[url] == rest)
            transport.close()
            await eventually { await transport.statistics == TransportStatistics() }
        }

        @Test func `A response that is still arriving has its connection`() async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
                connection.waitForEnd()
            }
            let transport = testedTransport()
            let response = try await transport.deliver(request(server.url, .streamed))
            #expect(await transport.statistics.counts == Counts(openConnections: 1, activeRequests: 1))
            response.body.close()
            await eventually { await transport.statistics == TransportStatistics() }
        }

        /// Without a scheme an address may begin as that of another kind does.
        @Test(arguments: ["http://", "socks:s3cret@"])
        func `A connection to a proxy that forwards is no origin's`(start: String) async throws {
            let proxy = try RawServer.ok()
            let transport = testedTransport(configuration: .init(proxy: .http("\(start)127.0.0.1:\(proxy.port)")))
            _ = try await transport.deliver(request("http://h.example/", .buffered(upTo: 10)))
            #expect(await transport.statistics == Counts(openConnections: 1, idleConnections: 1))
        }

        @Test func `One through a SOCKS proxy is its origin's, which is asked for what was written`() async throws {
            let heads = Locked<[String]>([])
            let proxy = try RawServer { connection in
                guard let start = connection.read(2), connection.read(Int(start[1])) != nil, connection.write([5, 0]),
                    connection.read(4 + 1 + "h.example".utf8.count + 2) != nil
                else { return }
                connection.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
                while let head = connection.readHead() {
                    heads.withLock { $0.append(head) }
                    connection.write(RawServer.okResponse)
                }
            }
            let transport = testedTransport(configuration: .init(proxy: .socks5("127.0.0.1:\(proxy.port)")))
            _ = try await transport.deliver(request("http://h.example/%c3%b6", .buffered(upTo: 10)))
            #expect(heads.withLock { $0 }.map { $0.hasPrefix("GET /%c3%b6 ") } == [true])
            let expected = Counts(openConnections: 1, idleConnections: 1)
            #expect(await transport.statistics.origins == ["http://h.example": expected])
        }

        @Test(.enabled(if: Servers.areRunning, "run by Scripts/with-servers"))
        func `Streams of HTTP/2 share what is counted once`() async throws {
            let url = Servers["NGINX_HTTPS"]
            var configuration = TransportConfiguration()
            configuration.tls.authorities = .file(Servers["CA"])
            let transport = testedTransport(configuration: configuration)
            var responses: [HTTPResponse] = []
            for _ in 0..<3 { responses.append(try await transport.deliver(request("\(url)/large", .streamed))) }
            #expect(responses.last?.version == .http2)
            let origin = try #require(HTTPOrigin(url)).description
            #expect(await transport.statistics.origins == [origin: Counts(openConnections: 1, activeRequests: 3)])
            for response in responses { response.body.close() }
            await eventually { await transport.statistics.activeRequests == 0 }
            _ = try await transport.deliver(request("\(url)/hello", .buffered(upTo: 10)))
            #expect(await transport.statistics.origins == [origin: Counts(openConnections: 1, idleConnections: 1)])
        }

        /// Which may be asked when its loop ends.
        @Test func `Every question is answered`() async throws {
            let server = try RawServer.ok()
            for _ in 0..<20 {
                let transport = testedTransport()
                _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<8 {
                        group.addTask { if number == 4 { transport.close() } else { _ = await transport.statistics } }
                    }
                }
                #expect(await transport.statistics == TransportStatistics())
            }
        }
    }
#endif
