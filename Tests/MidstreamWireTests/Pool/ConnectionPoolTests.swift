#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamLoop
    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ConnectionPoolTests {
        private func idleCount(_ transport: WireTransport) async throws -> Int {
            let loop = try #require(transport.executor as? WireLoop)
            return await onLoop(loop) { loop.pool.idle.count }
        }

        @Test func `A connection that the server is about to close isn't kept`() async throws {
            let server = try RawServer.answering { _ in "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n" }
            let transport = wireTransport()
            for _ in 0..<2 { _ = try await transport.deliver(request(server.url, .buffered(upTo: 10))) }
            #expect(server.accepted == 2)
            #expect(try await idleCount(transport) == 0)
        }

        /// That a server keeps it for 5 s leaves 4 s to begin.
        @Test func `A connection isn't used when the server may be about to close it`() async throws {
            let server = try RawServer.answering { _ in
                "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok"
            }
            let transport = wireTransport()
            let loop = try #require(transport.executor as? WireLoop)
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            let isUsable = await onLoop(loop) {
                guard let kept = loop.pool.idle.oldest else { return [Bool]() }
                return [3_999_999_999, 4_000_000_000].map { (time: UInt64) in
                    loop.clock.pointee = kept.idleSince + time
                    return kept.isUsable
                }
            }
            #expect(isUsable == [true, false])
        }

        @Test func `An unused connection makes room for one that is needed`() async throws {
            let first = try RawServer.ok()
            let second = try RawServer.ok()
            let transport = wireTransport(configuration: TransportConfiguration(maximumConnections: 1))
            for server in [first, second, first] {
                _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                #expect(try await idleCount(transport) == 1)
            }
            #expect(first.accepted == 2)
            #expect(second.accepted == 1)
        }

        @Test func `Unused connections make room for those whose hosts are still looked up`() async throws {
            let server = try RawServer.ok()
            let gate = Gate()
            defer { gate.open() }
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    resolver: { host in
                        if host.hasPrefix("later") { await gate.wait() }
                        return ["127.0.0.1"]
                    }, httpVersions: .http1Only, maximumConnections: 4))
            let loop = try #require(transport.executor as? WireLoop)
            let port = server.port
            func begin(_ host: String) -> [Task<HTTPResponse, any Error>] {
                (0..<4).map { number in
                    Task { try await transport.deliver(request("http://\(host)\(number).invalid:\(port)/", .buffered(upTo: 10))) }
                }
            }
            for task in begin("first") { _ = try await task.value }
            let later = begin("later")
            await gate.reached(by: 4)
            gate.open()
            for task in later { _ = try await task.value }
            #expect(await transport.statistics.openConnections == 4)
            #expect(await onLoop(loop) { [loop.channels.count, loop.channels.expected] } == [4, 0])
        }

        @Test func `A lookup that is given up takes no place any more`() async throws {
            let resolver = HoldingResolver(holding: 1)
            defer { resolver.gate.open() }
            let transport = wireTransport(
                configuration: TransportConfiguration(resolver: resolver.addresses, connectTimeout: .milliseconds(20)))
            let loop = try #require(transport.executor as? WireLoop)
            let error = await httpError { try await transport.deliver(request("http://h.invalid/", .buffered(upTo: 10))) }
            #expect(error?.code == .timeout)
            #expect(await onLoop(loop) { [loop.channels.count, loop.channels.expected] } == [0, 0])
        }

        @Test func `An unused connection is closed in time`() async throws {
            let server = try RawServer.ok()
            let transport = wireTransport(configuration: TransportConfiguration(idleConnectionLifetime: .milliseconds(20)))
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            await eventually { (try? await idleCount(transport)) == 0 }
        }

        @Test(arguments: [BodyDelivery.buffered(upTo: 10), .streamed])
        func `None is used that has been idle for too long while the loop rested`(_ delivery: BodyDelivery) async throws {
            let server = try RawServer.ok()
            let lifetime = Duration.milliseconds(1)
            let transport = wireTransport(configuration: TransportConfiguration(idleConnectionLifetime: lifetime))
            let loop = try #require(transport.executor as? WireLoop)
            await onLoop(loop) { (loop.exchanges.limit, loop.exchanges.lookInterval) = (.max, 60_000) }
            func send() async throws -> Bool {
                let drives = loop.inbox.withLock { $0.drives }
                _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                return loop.inbox.withLock { $0.drives } > drives
            }
            for _ in 0..<10 {
                while try await !send() {}
                let (end, accepted) = (MonotonicTime.now() + 2_000_000, server.accepted)
                while MonotonicTime.now() < end {}
                #expect(try await transport.deliver(request(server.url, delivery)).body.collect() == Array("ok".utf8))
                #expect(server.accepted == accepted + 1)
            }
        }

        @Test func `A request that goes out again waits for a connection that hasn't served`() async throws {
            let mayAnswer = DispatchSemaphore(value: 0)
            let deaths = Locked(0)
            let server = try RawServer { connection in
                while let head = connection.readHead() {
                    if head.hasPrefix("GET /slow ") { mayAnswer.wait() }
                    if head.hasPrefix("GET /mortal "), deaths.withLock({ $0 }) == 0 {
                        return deaths.withLock { $0 += 1 }
                    }
                    connection.write(RawServer.okResponse)
                }
            }
            let resolver = HoldingResolver(holding: 3)
            defer { resolver.gate.open() }
            let transport = wireTransport(configuration: TransportConfiguration(resolver: resolver.addresses))
            let loop = try #require(transport.executor as? WireLoop)
            let url = "http://h.invalid:\(server.port)"
            let slow = Task { try await transport.deliver(request("\(url)/slow", .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.active.first?.wire.connection is HTTP1Connection } }
            _ = try await transport.deliver(request("\(url)/", .buffered(upTo: 10)))
            let mortal = Task { try await transport.deliver(request("\(url)/mortal", .buffered(upTo: 10))) }
            await resolver.gate.reached()
            mayAnswer.signal()
            #expect(try await slow.value.status == 200)
            resolver.gate.open()
            let response = try await mortal.value
            #expect(response.metrics?.resends == 1)
            #expect(response.metrics?.isReusedConnection == false)
            #expect(server.accepted == 3)
        }

        /// Connecting goes on when its request is given up, and serves the next one.
        @Test func `A dial that nobody waits for any more isn't wasted`() async throws {
            let mayAnswer = DispatchSemaphore(value: 0)
            let proxy = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                mayAnswer.wait()
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
            }
            let transport = wireTransport(
                configuration: TransportConfiguration(proxy: .http(proxy.url), httpVersions: .http1Only))
            let loop = try #require(transport.executor as? WireLoop)
            // TLS is never reached: the connection ends with the tunnel's answer.
            let first = Task { try await transport.deliver(request("https://h.example/", .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.pool.dialCount } == 1 }
            first.cancel()
            _ = await first.result
            #expect(await onLoop(loop) { loop.pool.dialCount } == 1)
            let second = Task { try await transport.deliver(request("https://h.example/", .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.active.count } == 1 }
            #expect(await onLoop(loop) { loop.pool.dialCount } == 1)
            mayAnswer.signal()
            await #expect(throws: HTTPError.self) { _ = try await second.value }
            #expect(proxy.accepted == 1)
        }

        /// Which has none of its own yet, since its name is being looked up.
        @Test func `A dial that nobody waits for any more ends where no connection is kept`() async throws {
            let resolver = HoldingResolver(holding: 1)
            defer { resolver.gate.open() }
            let transport = wireTransport(
                configuration: TransportConfiguration(resolver: resolver.addresses, keepsConnections: false))
            let loop = try #require(transport.executor as? WireLoop)
            let first = Task { try await transport.deliver(request("http://h.invalid/", .buffered(upTo: 10))) }
            await resolver.gate.reached()
            first.cancel()
            _ = await first.result
            #expect(await onLoop(loop) { loop.pool.dialCount } == 0)
        }

        /// In a process of its own, which may have few descriptors.
        @Test func `No more dials that nobody waits for go on than connections are kept`() async {
            await #expect(processExitsWith: .success) {
                DescriptorTests.allow(64)
                let gate = Gate()
                let transport = wireTransport(
                    configuration: TransportConfiguration(resolver: { _ in
                        await gate.wait()
                        return []
                    }))
                let loop = try #require(transport.executor as? WireLoop)
                for number in 0..<100 {
                    let sent = Task { try await transport.deliver(request("http://h\(number).invalid/", .buffered(upTo: 10))) }
                    await eventually { await onLoop(loop) { loop.active.count } == 1 }
                    sent.cancel()
                    _ = await sent.result
                }
                #expect(await onLoop(loop) { loop.pool.dialCount } == 32)
                gate.open()
            }
        }

        @Test func `Whoever joins a dial has all of the time that connecting may take`() async throws {
            let heads = Locked(0)
            let proxy = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                if heads.increment() == 1 { return connection.waitForEnd() }
                connection.write("HTTP/1.1 403 Forbidden\r\n\r\n")
            }
            let transport = wireTransport(
                configuration: TransportConfiguration(proxy: .http(proxy.url), httpVersions: .http1Only))
            let loop = try #require(transport.executor as? WireLoop)
            let first = Task { try await transport.deliver(request("https://h.example/", .buffered(upTo: 10))) }
            await eventually { heads.withLock { $0 } == 1 }
            first.cancel()
            _ = await first.result
            let second = Task { try await transport.deliver(request("https://h.example/", .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.active.first?.wire.connection is Dial } }
            await onLoop(loop) {
                guard let dial = loop.active.first?.wire.connection as? Dial else { return }
                loop.clock.pointee = dial.deadline
                dial.isWoken()
            }
            let error = await #expect(throws: HTTPError.self) { _ = try await second.value }
            // The second dial's; that of the first is that its time is over.
            #expect(error?.code == .proxy)
            #expect(proxy.accepted == 2)
        }

        @Test func `One that nobody waits for any more makes room, too`() async throws {
            let servers = try (0..<5).map { _ in try RawServer { $0.waitForEnd() } }
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http1Only, maximumConnections: 1))
            for server in servers {
                // TLS isn't answered.
                let url = "https://127.0.0.1:\(server.port)/"
                let sent = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
                await eventually { server.accepted == 1 }
                sent.cancel()
                _ = await sent.result
                #expect(await transport.statistics.openConnections <= 1)
            }
        }

        @Test(.enabled(if: Servers.areRunning, "run by Scripts/with-servers"))
        func `A host that hasn't chosen HTTP/2 is offered it again some minutes later`() async throws {
            let tls = try TLSServer(certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"], offersHTTP2: false)
            let server = try RawServer.ok(tls: tls)
            let transport = wireTransport(
                configuration: TransportConfiguration(tls: TLSConfiguration(verifiesCertificates: false)))
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            let route = Route(server.url, Routes(transport.configuration))
            let loop = try #require(transport.executor as? WireLoop)
            let mayShare = await onLoop(loop) {
                let before = loop.mayShare(route)
                loop.clock.pointee += 600_000_000_000
                return [before, loop.mayShare(route)]
            }
            #expect(mayShare == [false, true])
        }

        @Test func `What is remembered for good isn't remembered for less`() {
            let pool = ConnectionPool()
            let route = Route("https://h.example/", Routes(TransportConfiguration()))
            for time in [10, .max, 20] as [UInt64] { pool.rememberWithoutHTTP2(route, until: time) }
            #expect(pool.speaksOnlyHTTP1(route, at: 30))
        }

        @Test func `What is remembered for good stays when many others don't speak HTTP/2`() {
            let pool = ConnectionPool()
            let routes = Routes(TransportConfiguration())
            let route = Route("https://h.example/", routes)
            pool.rememberWithoutHTTP2(route, until: .max)
            for number in 0..<5_000 { pool.rememberWithoutHTTP2(Route("https://h\(number).example/", routes), until: 10) }
            #expect(pool.hasLeftHTTP2(route))
        }

        @Test func `A connection of HTTP/2 with a stream has a place among all`() async throws {
            let mayFinish = DispatchSemaphore(value: 0)
            let servers = try (0..<2).map { _ in
                try HTTP2Server { peer in
                    guard peer.begin(), let stream = peer.nextRequest() else { return }
                    peer.write(HTTP2Frame.headers([.ok], stream: stream))
                    mayFinish.wait()
                    peer.write(HTTP2Frame.data("ok", end: true, stream: stream))
                    peer.connection.waitForEnd()
                }
            }
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnections: 1))
            let loop = try #require(transport.executor as? WireLoop)
            let first = try await transport.deliver(request(servers[0].url, .streamed))
            let url = servers[1].url
            let second = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.active.count + loop.admission.waitingCount } == 2 }
            #expect(await onLoop(loop) { loop.admission.waitingCount } == 1)
            for _ in servers { mayFinish.signal() }
            #expect(try await first.body.collect() == Array("ok".utf8))
            #expect(try await second.value.body.bytes == Array("ok".utf8))
            #expect(await transport.statistics.openConnections == 1)
            withExtendedLifetime(servers) {}
        }

        @Test func `No further connection of HTTP/2 is made where all are needed`() async throws {
            let mayFinish = DispatchSemaphore(value: 0)
            let servers = try (0..<2).map { _ in
                try RawServer.http2 { peer in
                    guard peer.begin(HTTP2Frame.settings((3, 1))) else { return }
                    while let stream = peer.nextRequest() {
                        peer.write(HTTP2Frame.headers([.ok], stream: stream))
                        mayFinish.wait()
                        peer.write(HTTP2Frame.data("ok", end: true, stream: stream))
                    }
                }
            }
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnections: 2))
            let loop = try #require(transport.executor as? WireLoop)
            let urls = servers.map(\.url)
            var responses: [HTTPResponse] = []
            for url in urls { responses.append(try await transport.deliver(request(url, .streamed))) }
            let further = Task { try await transport.deliver(request(urls[0], .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.active.count } == 3 }
            for _ in 1...3 { mayFinish.signal() }
            for response in responses { #expect(try await response.body.collect() == Array("ok".utf8)) }
            #expect(try await further.value.body.bytes == Array("ok".utf8))
            #expect(servers.map(\.accepted) == [1, 1])
        }

        @Test(arguments: [(1, nil), (nil, 1)] as [(Int?, Int?)])
        func `What a proxy forwards keeps to the limits`(_ ofHost: Int?, _ ofAll: Int?) async throws {
            let mayAnswer = DispatchSemaphore(value: 0)
            let proxy = try RawServer { connection in
                while connection.readHead() != nil {
                    mayAnswer.wait()
                    connection.write(RawServer.okResponse)
                }
            }
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    proxy: .http(proxy.url), maximumConnectionsPerHost: ofHost, maximumConnections: ofAll))
            let loop = try #require(transport.executor as? EventLoop)
            let tasks = ["a", "b"].map { host in
                Task { try await transport.deliver(request("http://\(host).example/", .buffered(upTo: 10))) }
            }
            await eventually { await onLoop(loop) { loop.active.count + loop.admission.waitingCount } == 2 }
            #expect(await onLoop(loop) { loop.admission.waitingCount } == 1)
            for _ in tasks { mayAnswer.signal() }
            for task in tasks { #expect(try await task.value.body.bytes == Array("ok".utf8)) }
            #expect(proxy.accepted == 1)
        }
    }
#endif
