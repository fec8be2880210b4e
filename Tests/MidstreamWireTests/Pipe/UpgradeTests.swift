#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct UpgradeTests {
        private let transport = wireTransport()

        private func upgrade(_ server: RawServer) -> HTTPRequest {
            HTTPRequest("\(raw: server.url)/", headers: ["Connection": "Upgrade", "Upgrade": "echo"])
        }

        private static let switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-A: b\r\n"

        @Test func `A 101 has the connection as its body, and what came with it`() async throws {
            // Content-Length and a coding mean nothing there.
            for fields in ["\r\n", "Content-Length: 0\r\nContent-Encoding: gzip\r\n\r\n"] {
                let server = try RawServer { connection in
                    guard let head = connection.readHead() else { return }
                    #expect(head.contains("Upgrade: echo") && !head.contains("Accept-Encoding"))
                    connection.write("HTTP/1.1 103 Early Hints\r\n\r\n" + Self.switching + fields + "first")
                    while connection.next(1) != nil { connection.write(connection.read(1) ?? []) }
                }
                let response = try await transport.send(upgrade(server))
                #expect(response.status == 101 && response.headers["X-A"] == "b")
                let channel = try #require(response.channel)
                #expect(try await channel.collect(5) == Array("first".utf8))
                try await channel.write(Array("again".utf8))
                #expect(try await channel.collect(5) == Array("again".utf8))
                response.body.close()
                await #expect(throws: HTTPError.self) { try await channel.read() }
                await #expect(throws: HTTPError.self) { try await channel.writeToItsEnd() }
            }
        }

        @Test func `A response that is released closes the connection`() async throws {
            let hungUp = Gate()
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write(Self.switching + "\r\n")
                connection.waitForEnd()
                hungUp.open()
            }
            _ = try await transport.send(upgrade(server))
            await hungUp.wait()
        }

        @Test func `Any other status is an ordinary response, whose connection is kept`() async throws {
            let server = try RawServer.answering { request in
                request.head.contains("Upgrade")
                    ? "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"
                    : "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"
            }
            let refused = try await transport.send(upgrade(server))
            #expect(refused.status == 401 && refused.channel == nil)
            #expect(try await refused.body.collect() == Array("no".utf8))
            let other = try await transport.send(HTTPRequest(server.url))
            #expect(try await other.body.collect() == Array("yes".utf8))
            #expect(server.accepted == 1)
            // An upgrade goes out on a new one, since it may take it away.
            #expect(try await transport.send(upgrade(server)).status == 401)
            #expect(server.accepted == 2)
        }

        @Test func `One that no request uses makes room within its host's limit`() async throws {
            let server = try RawServer { connection in
                while let head = connection.readHead() {
                    let isUpgrade = head.contains("Upgrade")
                    connection.write(isUpgrade ? Self.switching + "\r\n" : RawServer.okResponse)
                }
            }
            let transport = wireTransport(configuration: TransportConfiguration(maximumConnectionsPerHost: 1))
            #expect(try await transport.deliver(HTTPRequest(server.url)).body.collect() == Array("ok".utf8))
            let response = try await transport.send(upgrade(server))
            #expect(response.status == 101)
            #expect(await transport.statistics.counts.openConnections == 1)
            response.body.close()
        }

        @Test func `A server that switches before the request's end breaks the protocol`() async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write(Self.switching + "\r\n")
                connection.waitForEnd()
            }
            var request = upgrade(server)
            request.method = .post
            request.body = .once(AsyncStream { _ in })
            let error = await #expect(throws: HTTPError.self) { _ = try await transport.send(request) }
            #expect(error?.code == .protocolViolation)
        }

        @Test func `Nothing is switched unasked, nor for a body in memory`() async throws {
            let server = try RawServer.answering { _ in Self.switching + "\r\n" }
            let unasked = await #expect(throws: HTTPError.self) { try await transport.send(HTTPRequest(server.url)) }
            #expect(unasked?.code == .protocolViolation)
            let buffered = await #expect(throws: HTTPError.self) {
                try await transport.send(upgrade(server), ExchangeOptions(delivery: .buffered(upTo: 1_000)))
            }
            #expect(buffered?.code == .protocolViolation)
        }

        @Test func `A connection that is lost is lost for both sides`() async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write(Self.switching + "\r\n")
                _ = connection.read(1)
                connection.reset()
            }
            let response = try await transport.send(upgrade(server))
            let channel = try #require(response.channel)
            try await channel.write([1])
            let error = await #expect(throws: HTTPError.self) { try await channel.read() }
            #expect(error?.code == .connectionLost)
            await #expect(throws: HTTPError.self) { try await channel.writeToItsEnd() }
        }

        @Test(.enabled(if: Servers.areRunning, "run by Scripts/with-servers"))
        func `HTTP/2 isn't offered for an upgrade`() async throws {
            let tls = try TLSServer(certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"])
            let server = try RawServer(tls: tls) { connection in
                guard connection.readHead() != nil else { return }
                connection.write(Self.switching + "\r\n")
                while connection.next(1) != nil { connection.write(connection.read(1) ?? []) }
            }
            let transport = wireTransport(configuration: .init(tls: .init(verifiesCertificates: false)))
            let channel = try #require(try await transport.send(upgrade(server)).channel)
            try await channel.write([1, 2])
            #expect(try await channel.collect(2) == [1, 2])
        }
    }
#endif
