#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    /// HTTP/3 where packets are lost, late or unanswered, and with servers that stop and end.
    @Suite("HTTP/3 in bad weather", .leavesNothing, .enabled(if: HTTP3.isSpoken), .timeLimit(.minutes(10)))
    struct HTTP3WeatherTests {
        /// A client for nginx's port of mutual TLS, at which nothing listens by UDP.
        private func clientWithoutQUIC(_ versions: TransportConfiguration.HTTPVersions) -> HTTPClient {
            HTTP3.client(versions) {
                $0.tls.clientCertificate = .init(certificate: Nginx.clientCertificate ?? "", key: Nginx.clientKey ?? "")
            }
        }

        @Test(arguments: [false, true]) func `Where nobody answers by QUIC, HTTP/2 does`(isSilent: Bool) async throws {
            let origin = try #require(Nginx.mutualTLS)
            let port = try #require(URLComponents(string: origin)?.port)
            let relay = isSilent ? try UDPRelay(at: port, .cut) : nil
            let client = clientWithoutQUIC(.http3)
            for round in 0..<12 {
                let response = try await client.send(HTTPRequest(origin + "/1k"))
                #expect(response.version == .http2)
                #expect(response.metrics?.isReusedConnection == (round > 0))
            }
            withExtendedLifetime(relay) {}
        }

        @Test func `Where nobody can answer, the error says so`() async throws {
            let origin = "https://localhost:1/"
            for versions in [TransportConfiguration.HTTPVersions.http3, .http3Only] {
                await expectError(.connection, .notSent) { try await HTTP3.client(versions).send(HTTPRequest(origin)) }
                await expectError(.nameResolution, .notSent) {
                    try await HTTP3.client(versions).send(HTTPRequest("https://nobody.invalid/"))
                }
            }
        }

        @Test func `Silence ends with the time for connecting`() async throws {
            let relay = try UDPRelay(.cut)
            await expectError(.timeout, .notSent) {
                try await HTTP3.client { $0.connectTimeout = .milliseconds(500) }.send(HTTPRequest(relay.origin + "/1k"))
            }
            #expect(relay.lost > 0)
        }

        @Test(arguments: [UDPRelay.Weather.fine, .losesOneIn(10), .losesOneIn(50), .delays(milliseconds: 40)])
        func `Packets that are lost or late don't harm what they carry`(weather: UDPRelay.Weather) async throws {
            let relay = try UDPRelay(weather)
            let client = HTTP3.client()
            let bytes = noise(300_000)
            let url = "\(relay.origin)/put/\(UUID().uuidString)/file"
            #expect(try await client.send(HTTPRequest(.put, url, body: .bytes(bytes))).status == 201)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        let response = try await client.send(HTTPRequest(url))
                        #expect(response.version == .http3)
                        #expect(response.body.bytes == bytes)
                    }
                }
                try await group.waitForAll()
            }
            #expect(relay.passed > 0)
        }

        @Test func `A connection that is cut in the middle ends what is under way, and only that`() async throws {
            let relay = try UDPRelay()
            let client = HTTP3.client { $0.idleTimeout = .seconds(3) }
            let response = try await client.stream(HTTPRequest(relay.origin + "/large"))
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next() != nil)
            relay.turn(.cut)
            await expectError(.timeout, .answered) { while try await iterator.next() != nil {} }
            relay.turn(.fine)
            #expect(try await client.send(HTTPRequest(relay.origin + "/1k")).body.bytes?.count == 1024)
        }

        @Test func `A connection on which something comes while it is idle is kept`() async throws {
            let relay = try UDPRelay()
            let client = HTTP3.client { $0.headTimeout = .seconds(120) }
            let number = try await client.send(HTTPRequest(relay.origin + "/-/pings")).body.text
            // The pings and their acknowledgements; the answer has fewer of the latter.
            let passed = relay.passed
            await eventually(within: .seconds(5)) { relay.passed >= passed + 15 }
            #expect(try await HTTP3.connection(client, of: relay.origin) == number)
        }

        @Test func `A connection that has died while it was idle is replaced`() async throws {
            let relay = try UDPRelay()
            let client = HTTP3.client { $0.headTimeout = .seconds(3) }
            let number = try await HTTP3.connection(client, of: relay.origin)
            relay.turn(.cut)
            await expectError(.timeout) { try await HTTP3.connection(client, of: relay.origin) }
            relay.turn(.fine)
            #expect(try await HTTP3.connection(client, of: relay.origin) != number)
        }

        @Test func `A server that stops for six seconds goes on where it was`() async throws {
            let port = try UDPSocket.freePort()
            let server = HTTP3Process(port: port)
            let origin = "https://localhost:\(port)"
            let client = HTTP3.client()
            await eventually { (try? await HTTP3.connection(client, of: origin)) != nil }
            let number = try await HTTP3.connection(client, of: origin)
            async let under = client.stream(HTTPRequest(origin + "/10m"))
            let waiting = try await under
            #expect(try await client.send(HTTPRequest(origin + "/-/stop/6")).body.text == number)
            #expect(try await waiting.body.collect() == (try Nginx.file("/10m")))
            #expect(try await HTTP3.connection(client, of: origin) == number)
            await server.kill()
        }

        @Test func `A server that is killed and comes back gets a new connection`() async throws {
            let port = try UDPSocket.freePort()
            let origin = "https://localhost:\(port)"
            // Whether the end is noticed depends on whether anything is sent after it.
            let client = HTTP3.client {
                $0.headTimeout = .seconds(3)
                $0.idleTimeout = .seconds(3)
            }
            let first = HTTP3Process(port: port)
            await eventually { (try? await HTTP3.connection(client, of: origin)) != nil }
            let response = try await client.stream(HTTPRequest(origin + "/large"))
            await first.kill()
            let broken = await httpError { for try await _ in response.body {} }
            #expect(broken?.phase == .answered && [.connectionLost, .timeout].contains(broken?.code))
            let refused = await httpError { try await HTTP3.connection(client, of: origin) }
            #expect([.connection, .timeout].contains(refused?.code))
            let second = HTTP3Process(port: port)
            await eventually { (try? await HTTP3.connection(client, of: origin)) != nil }
            #expect(try await HTTP3.connection(client, of: origin) == "1")
            await second.kill()
        }
    }
#endif
