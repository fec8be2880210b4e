#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct DestinationTests {
        private func transport(
            except: [String] = [], _ change: (inout TransportConfiguration) -> Void = { _ in }
        ) -> any LoopTransport {
            var configuration = TransportConfiguration(destinations: .publicOnly(except: except))
            change(&configuration)
            return testedTransport(configuration: configuration)
        }

        private func failure(_ transport: any LoopTransport, _ url: String) async -> HTTPError? {
            await #expect(throws: HTTPError.self) { _ = try await transport.deliver(request(url, .buffered(upTo: 10))) }
        }

        @Test(arguments: [
            "127.0.0.1", "localhost", "LOCALHOST", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.1", "0", "0.0.0.0",
            "[::1]",
            "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "10.0.0.1",
            "169.254.169.254",
        ]) func `This machine and its network aren't connected to, however they are written`(_ host: String) async throws {
            let server = try RawServer.ok()
            for delivery in deliveries {
                let error = await httpError { try await transport().deliver(request("http://\(host):\(server.port)/", delivery)) }
                #expect(error?.code == .forbiddenDestination)
                #expect(error?.phase == .notSent)
                #expect(error?.isTransient == false)
                #expect(error?.isRefusedHere == true)
            }
            #expect(server.accepted == 0)
        }

        @Test func `Exceptions are connected to, and kept`() async throws {
            let server = try RawServer.ok()
            let transport = transport(except: ["127.0.0.0/8"])
            for _ in 0..<2 {
                #expect(
                    try await transport.deliver(request("http://localhost:\(server.port)", .buffered(upTo: 10))).status == 200)
            }
            #expect(server.accepted == 1)
        }

        @Test func `A redirect is looked at like everything else, and nothing is tried again`() async throws {
            let server = try RawServer.answering { request in
                let port = request.lines.first { $0.hasPrefix("Host: ") }?.split(separator: ":").last ?? "80"
                return "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:\(port)/\r\nContent-Length: 0\r\n\r\n"
            }
            var configuration = HTTPClient.Configuration()
            configuration.maxRetries = 3
            let client = testClient(configuration: configuration, transport: transport(except: ["127.0.0.1"]))
            let error = await #expect(throws: HTTPError.self) { _ = try await client.send(HTTPRequest(server.url)) }
            #expect(error?.code == .forbiddenDestination)
            #expect(error?.request?.urlText.contains("127.0.0.2") == true)
            #expect(server.accepted == 1)
        }

        @Test func `Overrides, addresses and unix sockets are no exceptions`() async throws {
            let server = try RawServer.ok()
            let override = transport { $0.hostOverrides = ["h.example:80": "127.0.0.1:\(server.port)"] }
            #expect(await failure(override, "http://h.example/")?.code == .forbiddenDestination)
            let socket = transport { $0.unixSocketPath = "/run/none.sock" }
            #expect(await failure(socket, "http://h.example/")?.code == .forbiddenDestination)
            var sent = request("http://h.example/", .buffered(upTo: 10))
            sent.address = "127.0.0.1:\(server.port)"
            let error = await #expect(throws: HTTPError.self) { _ = try await transport().deliver(sent) }
            #expect(error?.code == .forbiddenDestination)
            #expect(server.accepted == 0)
        }

        @Test func `Behind a proxy they can't be kept to`() async throws {
            let proxy = try RawServer.ok()
            for kind: TransportConfiguration.Proxy in [.http(proxy.url), .socks5("127.0.0.1:\(proxy.port)")] {
                let transport = transport(except: ["127.0.0.1"]) { $0.proxy = kind }
                #expect(await failure(transport, "http://h.example/")?.code == .unsupported)
            }
            #expect(proxy.accepted == 0)
        }

        @Test func `An exception that is none fails every request`() async throws {
            #expect(await failure(transport(except: ["localhost"]), "http://1.1.1.1/")?.code == .invalidRequest)
        }
    }
#endif
