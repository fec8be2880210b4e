#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// The request's own address, and the machine's.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct AddressTests {
        private static func server(_ name: String) throws -> RawServer {
            try RawServer.answering { request in
                let host = request.lines.first { $0.hasPrefix("Host: ") } ?? ""
                let body = "\(name) \(host)"
                return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            }
        }

        private func request(_ url: String, at address: String?) -> HTTPRequest {
            var sent = HTTPRequest(url)
            sent.address = address
            return sent
        }

        private func text(_ request: HTTPRequest, by transport: any LoopTransport) async throws -> String {
            String(decoding: try await transport.deliver(request).body.collect(), as: UTF8.self)
        }

        @Test func `The connection leads there, and the name stays`() async throws {
            let server = try Self.server("a")
            let transport = testedTransport()
            let text = try await text(request("http://h.invalid/", at: "127.0.0.1:\(server.port)"), by: transport)
            #expect(text == "a Host: h.invalid")
            let other = try await self.text(request("http://h.invalid:\(server.port)/", at: "127.0.0.1"), by: transport)
            #expect(other == "a Host: h.invalid:\(server.port)")
        }

        @Test func `Connections are shared by those with the same address alone`() async throws {
            let servers = [try Self.server("a"), try Self.server("b")]
            let transport = testedTransport()
            for _ in 0..<3 {
                for (server, name) in zip(servers, ["a", "b"]) {
                    let sent = request("http://h.invalid/", at: "127.0.0.1:\(server.port)")
                    #expect(try await text(sent, by: transport) == "\(name) Host: h.invalid")
                }
                let error = await httpError { try await text(request("http://h.invalid/", at: nil), by: transport) }
                #expect(error?.code == .nameResolution)
            }
            #expect(servers.map(\.accepted) == [1, 1])
        }

        @Test func `A redirect keeps it within the origin`() async throws {
            let server = try RawServer.answering { request in
                let isFirst = request.head.hasPrefix("GET /first")
                let target = isFirst ? "/second" : "http://other.invalid/"
                return "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n"
            }
            let client = testClient(transport: testedTransport())
            let error = await #expect(throws: HTTPError.self) {
                _ = try await client.send(request("http://h.invalid/first", at: "127.0.0.1:\(server.port)"))
            }
            #expect(error?.code == .nameResolution)
            #expect(error?.request?.urlText == "http://other.invalid/")
            #expect(error?.request?.address == nil)
        }

        @Test(arguments: ["", "localhost", "127.0.0.1:0", "127.0.0.1:65536", "[::1", "a@127.0.0.1", "127.0.0.1/8"])
        func `What is no address isn't sent`(_ address: String) async throws {
            let error = await httpError { try await text(request("http://127.0.0.1/", at: address), by: testedTransport()) }
            #expect(error?.code == .invalidRequest)
        }

        @Test func `Through a proxy it can't be sent`() async throws {
            let proxy = try Self.server("proxy")
            let transport = testedTransport(configuration: .init(proxy: .http(proxy.url)))
            let error = await #expect(throws: HTTPError.self) {
                _ = try await text(request("http://h.invalid/", at: "127.0.0.1:\(proxy.port)"), by: transport)
            }
            #expect(error?.code == .unsupported)
            #expect(proxy.accepted == 0)
        }

        // MARK: The machine's

        @Test func `Connections are made from the local address`() async throws {
            let server = try Self.server("a")
            let transport = testedTransport(configuration: .init(localAddress: "127.0.0.3"))
            let response = try await transport.deliver(HTTPRequest(server.url))
            #expect(response.metrics?.localAddress == "127.0.0.3")
        }

        @Test(arguments: ["lo", "", "[::1]", "::1", "192.0.2.1", "127.0.0.1:80"])
        func `One that can't be used fails`(_ address: String) async throws {
            let server = try Self.server("a")
            let transport = testedTransport(configuration: .init(localAddress: address))
            let error = await #expect(throws: HTTPError.self) { _ = try await transport.deliver(HTTPRequest(server.url)) }
            #expect(error?.code == .connection)
            #expect(server.accepted == 0)
        }
    }
#endif
