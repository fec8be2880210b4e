#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// What fails on the way through a proxy, and whether that is the proxy's failure.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ProxyFailureTests {
        private struct Unknown: Error {}

        @Test(
            arguments: [
                ("socks5://127.0.0.1:1", .nameResolution), ("socks5h://p.example:1", .proxy),
            ] as [(String, HTTPError.Code)])
        func `A name that isn't found is the proxy's failure if it is the proxy's`(
            _ proxy: String, _ code: HTTPError.Code
        ) async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(proxy: .socks5(proxy), resolver: { _ in throw Unknown() }))
            let error = await httpError { try await transport.deliver(request("http://h.example/", .buffered(upTo: 10))) }
            #expect(error?.code == code && error?.phase == .notSent)
            #expect(error?.underlying is Unknown)
        }

        @Test(arguments: ["::1", "192.0.2.1"])
        func `A local address that can't be used isn't told as the proxy's failure`(_ address: String) async throws {
            let proxy = try RawServer.ok()
            let transport = wireTransport(
                configuration: TransportConfiguration(proxy: .http(proxy.url), localAddress: address))
            let error = await httpError { try await transport.deliver(request("http://h.example/", .buffered(upTo: 10))) }
            #expect(error?.code == .connection && error?.phase == .notSent)
            #expect(proxy.accepted == 0)
        }

        @Test func `The proxy's password isn't told to the server behind the tunnel`() async throws {
            let heads = Locked<[String]>([])
            let proxy = try RawServer { connection in
                for answer in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"] {
                    guard let head = connection.readHead() else { return }
                    heads.withLock { $0.append(head) }
                    connection.write(answer)
                }
            }
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    proxy: .http(proxy.url, credentials: .init(user: "u", password: "s3cret"))))
            let request = HTTPRequest("http://h.example/", headers: ["Connection": "Upgrade", "Upgrade": "echo"])
            #expect(try await transport.send(request).status == 400)
            #expect(heads.withLock { $0.map { $0.contains("Proxy-Authorization: Basic ") } } == [true, false])
        }
    }
#endif
