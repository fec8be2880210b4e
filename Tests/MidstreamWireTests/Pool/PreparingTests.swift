#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTesting
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct PreparingTests {
        private typealias Counts = TransportStatistics

        /// Counts requests.
        private static func server(_ heads: Locked<Int>, tls: TLSServer? = nil) throws -> RawServer {
            try RawServer(tls: tls) { connection in
                while connection.readHead() != nil {
                    heads.withLock { $0 += 1 }
                    connection.write(RawServer.okResponse)
                }
            }
        }

        @Test(arguments: [1, 2]) func `Connections stand before there are requests`(_ loops: Int) async throws {
            let heads = Locked(0)
            let server = try Self.server(heads)
            let transport = wireTransport(configuration: TransportConfiguration(eventLoops: loops))
            let client = testClient(baseURL: "\(server.url)/base/", transport: transport)
            try await client.prepare(connections: 3)
            let three = Counts(openConnections: 3, idleConnections: 3)
            #expect(await transport.statistics == three.by(server.url))
            // Those that stand count.
            try await client.prepare("elsewhere", connections: 2)
            #expect(await transport.statistics.counts == three)
            await eventually { server.accepted == 3 }
            #expect(heads.withLock { $0 } == 0)

            let response = try await client.send(HTTPRequest("a"))
            #expect(response.metrics?.isReusedConnection == true)
            #expect(response.metrics?.connect == .zero)
            #expect(await transport.statistics.counts == three)
            #expect(server.accepted == 3)
        }

        @Test func `One that no request may use doesn't count`() async throws {
            let server = try Self.server(Locked(0))
            let transport = wireTransport()
            let loop = try #require(transport.executor as? WireLoop)
            try await transport.prepare(server.url, connections: 2)
            await onLoop(loop) {
                guard let oldest = loop.pool.idle.oldest else { return }
                oldest.limitOfAge = 0
            }
            try await transport.prepare(server.url, connections: 2)
            #expect(await transport.statistics.counts == Counts(openConnections: 2, idleConnections: 2))
            #expect(await onLoop(loop) { loop.pool.idle.oldest?.isUsable } == true)
        }

        @Test func `No more are made than the limits allow`() async throws {
            let server = try Self.server(Locked(0))
            for configuration in [
                TransportConfiguration(maximumConnectionsPerHost: 2), TransportConfiguration(maximumConnections: 2),
            ] {
                let transport = wireTransport(configuration: configuration)
                try await transport.prepare(server.url, connections: Int.max)
                try await transport.prepare(server.url, connections: 5)
                #expect(await transport.statistics.counts == Counts(openConnections: 2, idleConnections: 2))
            }
            let transport = wireTransport()
            for count in [0, -1, Int.min] { try await transport.prepare(server.url, connections: count) }
            #expect(await transport.statistics == TransportStatistics())
        }

        @Test func `Connections of requests count towards the limit`() async throws {
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
                connection.waitForEnd()
            }
            let transport = wireTransport(configuration: TransportConfiguration(maximumConnectionsPerHost: 3))
            let responses = [
                try await transport.deliver(request(server.url, .streamed)),
                try await transport.deliver(request(server.url, .streamed)),
            ]
            try await transport.prepare(server.url, connections: 3)
            #expect(await transport.statistics.counts.openConnections == 3)
            try await transport.prepare(server.url, connections: 1)
            #expect(await transport.statistics.counts.openConnections == 3)
            for response in responses { response.body.close() }
        }

        @Test func `Connections to hosts that are still looked up count towards the limit`() async throws {
            let server = try Self.server(Locked(0))
            let resolver = HoldingResolver(holding: 1)
            defer { resolver.gate.open() }
            let transport = wireTransport(
                configuration: TransportConfiguration(resolver: resolver.addresses, maximumConnections: 2))
            let first = Task { try await transport.prepare("http://a.invalid:\(server.port)", connections: 2) }
            await resolver.gate.reached()
            try await transport.prepare("http://b.invalid:\(server.port)", connections: 2)
            resolver.gate.open()
            try await first.value
            #expect(await transport.statistics.counts == Counts(openConnections: 2, idleConnections: 2))
        }

        /// RFC 9113 §3.4: a server may close a connection on which no preface comes. This one says nothing before.
        @Test(.enabled(if: Servers.areRunning)) func `HTTP/2 has begun on one that stands`() async throws {
            let hasBegun = Locked(false)
            let tls = try TLSServer(certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"], sendsTickets: false)
            let server = try RawServer.http2(tls: tls) { peer in
                guard peer.begin() else { return }
                hasBegun.withLock { $0 = true }
                peer.answerAll()
            }
            let transport = wireTransport(
                configuration: TransportConfiguration(tls: TLSConfiguration(verifiesCertificates: false)))
            try await transport.prepare(server.url, connections: 1)
            await eventually(within: .seconds(120)) { hasBegun.withLock { $0 } }
            #expect(hasBegun.withLock { $0 })
            let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(response.metrics?.isReusedConnection == true)
            #expect(server.accepted == 1)
        }

        @Test func `What keeps a connection from being made is told`() async throws {
            let transport = wireTransport()
            func code(_ url: String, on transport: any HTTPTransport) async -> HTTPError.Code? {
                let client = testClient(transport: transport)
                let error = await #expect(throws: HTTPError.self) { try await client.prepare(.init(url), connections: 2) }
                return error?.code
            }
            let refused = try MockServer.refusedURL()
            #expect(await code(refused, on: transport) == .connection)
            #expect(await code("http://h.invalid", on: transport) == .nameResolution)
            #expect(await code("ftp://h.invalid", on: transport) == .invalidRequest)
            #expect(await code("/relative", on: transport) == .invalidRequest)
            #expect(await code("http://h.invalid", on: StubTransport.ok) == .unsupported)
            let guarded = wireTransport(configuration: TransportConfiguration(destinations: .publicOnly()))
            #expect(await code("http://127.0.0.1", on: guarded) == .forbiddenDestination)
            transport.close()
            #expect(await code("http://127.0.0.1", on: transport) == .connection)
        }

        @Test(arguments: [true, false]) func `Closing ends what is being made`(_ isAwaitedOnLoop: Bool) async throws {
            let proxy = try RawServer { $0.waitForEnd() }
            let transport = wireTransport(
                configuration: TransportConfiguration(proxy: .http(proxy.url), httpVersions: .http1Only))
            let preparing = Task(executorPreference: isAwaitedOnLoop ? transport.executor : nil) {
                try await transport.prepare("https://h.invalid", connections: 2)
            }
            await eventually { await transport.statistics.openConnections == 2 }
            transport.close()
            await #expect(throws: HTTPError.self) { try await preparing.value }
        }

        @Test func `It goes on when the time of a request is over that has joined it`() async throws {
            let server = try Self.server(Locked(0))
            let resolver = HoldingResolver(holding: 1)
            defer { resolver.gate.open() }
            let transport = wireTransport(configuration: TransportConfiguration(resolver: resolver.addresses))
            let url = "http://h.invalid:\(server.port)/"
            let preparing = Task { try await transport.prepare(url, connections: 1) }
            await resolver.gate.reached()
            let error = await #expect(throws: HTTPError.self) {
                let options = ExchangeOptions(delivery: .buffered(upTo: 10), timeLimit: .milliseconds(20))
                _ = try await transport.send(HTTPRequest(url), options)
            }
            #expect(error?.code == .timeout)
            resolver.gate.open()
            try await preparing.value
            #expect(await transport.statistics.counts == Counts(openConnections: 1, idleConnections: 1))
        }

        @Test func `Who is cancelled doesn't wait for what is being made`() async throws {
            let proxy = try RawServer { $0.waitForEnd() }
            let transport = wireTransport(
                configuration: TransportConfiguration(proxy: .http(proxy.url), httpVersions: .http1Only))
            let preparing = Task { try await transport.prepare("https://h.invalid", connections: 2) }
            await eventually { await transport.statistics.openConnections == 2 }
            preparing.cancel()
            await #expect(throws: CancellationError.self) { try await preparing.value }
            #expect(await transport.statistics.openConnections == 2)
        }

        @Test(.enabled(if: Servers.areRunning, "run by Scripts/with-servers")) func `TLS is ready, too`() async throws {
            for offersHTTP2 in [true, false] {
                let heads = Locked(0)
                let tls = try TLSServer(
                    certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"], offersHTTP2: offersHTTP2)
                let server = offersHTTP2 ? try RawServer(tls: tls) { $0.waitForEnd() } : try Self.server(heads, tls: tls)
                var configuration = TransportConfiguration()
                configuration.tls.verifiesCertificates = false
                let transport = wireTransport(configuration: configuration)
                try await transport.prepare(server.url, connections: 3)
                let count = offersHTTP2 ? 1 : 3
                let expected = Counts(openConnections: count, idleConnections: count)
                #expect(await transport.statistics.counts == expected)
                await eventually { server.accepted == count }
                guard !offersHTTP2 else { continue }
                #expect(heads.withLock { $0 } == 0)
                let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                #expect(response.metrics?.isReusedConnection == true)
                #expect(response.metrics?.tlsHandshake == .zero)
            }
        }
    }
#endif
