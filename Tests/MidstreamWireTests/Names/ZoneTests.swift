#if os(Linux)
    import Glibc
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// RFC 6874
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ZoneTests {
        private func route(_ url: String) -> Route { Route(url, Routes(TransportConfiguration())) }

        @Test(
            arguments: [
                ("http://[FE80::1%25wlP2]:81/a", "wlP2"), ("http://[fe80::1%wlP2]/", "wlP2"), ("http://[fe80::1%251]/", "1"),
                ("http://[fe80::1%25a%2Eb]/", "a.b"), ("http://[fe80::1]/%25a]", nil),
            ] as [(String, String?)])
        func `The zone is kept apart from the address`(url: String, zone: String?) {
            #expect(route(url).host == "[fe80::1]")
            #expect(route(url).zone == zone)
        }

        @Test func `Addresses in several zones are several hosts`() {
            #expect(route("http://[fe80::1%25a]/") != route("http://[fe80::1%25b]/"))
            #expect(route("http://[fe80::1%25a]/") != route("http://[fe80::1]/"))
            #expect(route("http://[fe80::1%25a]/") == route("http://[fe80::1%25a]:80/b"))
            #expect(route("http://[fe80::1%25a]/").hostKey != route("http://[fe80::1%25b]/").hostKey)
        }

        @Test func `A connection leads to a network by its name or its number`() throws {
            let number = if_nametoindex("lo")
            for zone in ["lo", "\(number)"] {
                let address = try #require(HostAddress(literal: "[fe80::1]", port: 80, zone: zone))
                let scope = address.withSocketAddress { address, _ in
                    UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_scope_id
                }
                #expect(scope == number)
            }
        }

        @Test func `A server isn't told of it`() async throws {
            let server = try RawServer.answering { request in
                let host = request.lines.first { $0.hasPrefix("Host: ") } ?? ""
                return "HTTP/1.1 200 OK\r\nContent-Length: \(host.utf8.count)\r\n\r\n\(host)"
            }
            let transport = wireTransport(
                configuration: TransportConfiguration(hostOverrides: ["[fe80::1]:80": "127.0.0.1:\(server.port)"]))
            let response = try await transport.deliver(request("http://u%40:p@[fe80::1%25lo]/", .buffered(upTo: 100)))
            #expect(response.body.bytes == Array("Host: [fe80::1]".utf8))
        }

        @Test func `A zone that isn't there is told`() async throws {
            let error = await #expect(throws: HTTPError.self) {
                _ = try await wireTransport().deliver(request("http://[fe80::1%25nowhere]/", .buffered(upTo: 10)))
            }
            #expect(error?.code == .nameResolution && error?.phase == .notSent)
            #expect(error?.message.contains("no network nowhere") == true)
        }
    }
#endif
