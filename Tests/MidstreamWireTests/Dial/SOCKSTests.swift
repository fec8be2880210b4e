#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// RFC 1928. See `ProxyHandshakeTests` for what proxies say.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct SOCKSTests {
        /// Notes what it is to connect to, and answers in its stead.
        private static func proxy(_ targets: Locked<[[UInt8]]>) throws -> RawServer {
            try RawServer { connection in
                guard connection.read(3) == [5, 1, 0] else { return }
                connection.write([5, 0])
                guard let start = connection.next(5) else { return }
                // An address of IPv4 or IPv6, or a name after its length; then the port.
                let length = [1: 4, 3: 1 + Int(start[4]), 4: 16][start[3]] ?? 0
                guard let target = connection.read(4 + length + 2) else { return }
                targets.withLock { $0.append(target) }
                connection.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
                while connection.readHead() != nil { connection.write(RawServer.okResponse) }
            }
        }

        @Test(
            arguments: [
                ("socks5", ["10.0.0.7", "::7"], [1, 10, 0, 0, 7]),
                ("socks5", ["::7", "10.0.0.7"], [4] + Array(repeating: 0, count: 15) + [7]),
                ("socks5h", ["10.0.0.7"], [3, 9] + Array("h.example".utf8)),
            ] as [(String, [String], [UInt8])])
        func `Names are looked up where the proxy's scheme says`(
            _ scheme: String, _ addresses: [String], _ target: [UInt8]
        ) async throws {
            let (targets, asked) = (Locked<[[UInt8]]>([]), Locked<[String]>([]))
            let proxy = try Self.proxy(targets)
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    proxy: .socks5("\(scheme)://127.0.0.1:\(proxy.port)"),
                    resolver: { host in
                        asked.withLock { $0.append(host) }
                        return addresses
                    }))
            let response = try await transport.deliver(request("http://h.example:258/", .buffered(upTo: 10)))
            #expect(response.body.bytes == Array("ok".utf8))
            #expect(targets.withLock { $0 } == [[5, 1, 0] + target + [1, 2]])
            #expect(asked.withLock { $0 } == (scheme == "socks5" ? ["h.example"] : []))
        }

        /// RFC 9113 §3.4: a server may send its settings before it has heard of the client.
        @Test func `A server that speaks first is heard behind the proxy's answer`() async throws {
            let proxy = try RawServer { connection in
                guard connection.read(3) == [5, 1, 0] else { return }
                connection.write([5, 0])
                guard connection.read(4 + 1 + 9 + 2) != nil else { return }
                connection.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0] + HTTP2Frame.settings())
                let peer = HTTP2Peer(connection)
                guard peer.readPreface() else { return }
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.response(stream: stream)) }
            }
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    proxy: .socks5("127.0.0.1:\(proxy.port)"), httpVersions: .http2PriorKnowledge))
            let response = try await transport.deliver(request("http://h.example/", .buffered(upTo: 10)))
            #expect(response.body.bytes == Array("ok".utf8))
        }

        @Test func `A proxy that can't be told who asks isn't kept waiting`() async throws {
            let ended = Gate()
            let proxy = try RawServer { connection in
                connection.waitForEnd()
                ended.open()
            }
            let credentials = TransportConfiguration.Credentials(user: "u", password: String(repeating: "p", count: 256))
            let transport = wireTransport(
                configuration: TransportConfiguration(proxy: .socks5("127.0.0.1:\(proxy.port)", credentials: credentials)))
            let error = await httpError { try await transport.deliver(request("http://h.example/", .buffered(upTo: 10))) }
            #expect(error?.code == .proxy)
            // Not by the transport's end.
            await ended.wait()
            transport.close()
            #expect(proxy.accepted == 1)
        }
    }
#endif
