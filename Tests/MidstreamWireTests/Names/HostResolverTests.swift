#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct HostResolverTests {
        /// Gives one answer after the other, and the last one again and again.
        private final class Resolver: Sendable {
            struct Unknown: Error {}
            private let state: Locked<(answers: [[String]], asked: [String])>

            init(_ answers: [String]...) { state = Locked((answers, [])) }

            var asked: [String] { state.withLock { $0.asked } }

            func addresses(of host: String) async throws -> [String] {
                try state.withLock { state in
                    state.asked.append(host)
                    guard let next = state.answers.first else { throw Unknown() }
                    if state.answers.count > 1 { state.answers.removeFirst() }
                    return next
                }
            }
        }

        /// Every response takes a connection of its own.
        private static func server() throws -> RawServer {
            try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
            }
        }

        private func failure(_ transport: WireTransport, _ url: String) async -> HTTPError? {
            await #expect(throws: HTTPError.self) { _ = try await transport.deliver(request(url, .buffered(upTo: 10))) }
        }

        @Test func `It is asked for each connection, and not for addresses`() async throws {
            let server = try Self.server()
            let resolver = Resolver(["no address", "127.0.0.1"])
            let transport = wireTransport(configuration: TransportConfiguration(resolver: resolver.addresses))
            for host in ["H.invalid", "h.invalid", "127.0.0.1"] {
                let response = try await transport.deliver(request("http://\(host):\(server.port)/", .buffered(upTo: 10)))
                #expect(response.status == 200)
            }
            #expect(resolver.asked == ["h.invalid", "h.invalid"])
        }

        @Test func `Without an address the name isn't found`() async throws {
            for resolver in [Resolver(), Resolver([]), Resolver(["h.example", "127.0.0.1:80"])] {
                let transport = wireTransport(configuration: TransportConfiguration(resolver: resolver.addresses))
                let error = await failure(transport, "http://localhost/")
                #expect(error?.code == .nameResolution)
                #expect(error?.phase == .notSent)
                #expect(resolver.asked == ["localhost"])
            }
        }

        @Test func `Its addresses are tried in their order, until one takes the connection`() async throws {
            let server = try Self.server()
            let resolver = Resolver(["127.0.0.2", "127.0.0.1", "127.0.0.3"])
            let transport = wireTransport(configuration: TransportConfiguration(resolver: resolver.addresses))
            let response = try await transport.deliver(request("http://h.invalid:\(server.port)/", .buffered(upTo: 10)))
            #expect(response.metrics?.remoteAddress == "127.0.0.1")
            #expect(resolver.asked == ["h.invalid"])
        }

        /// A name whose owner lets it lead elsewhere once it was looked at.
        @Test func `What a name leads to is looked at each time`() async throws {
            let server = try Self.server()
            let resolver = Resolver(["10.0.0.1", "127.0.0.1", "::1"], ["127.0.0.2"])
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    destinations: .publicOnly(except: ["127.0.0.1"]), resolver: resolver.addresses))
            let url = "http://h.invalid:\(server.port)/"
            #expect(try await transport.deliver(request(url, .buffered(upTo: 10))).metrics?.remoteAddress == "127.0.0.1")
            #expect(await failure(transport, url)?.code == .forbiddenDestination)
            #expect(server.accepted == 1)
        }

        @Test func `What a task has computed before takes nothing of the time for connecting`() async throws {
            let server = try Self.server()
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    resolver: Resolver(["127.0.0.1"]).addresses, connectTimeout: .seconds(60)))
            let loop = try #require(transport.executor as? WireLoop)
            let response = try await withTaskExecutorPreference(loop) {
                // As if the loop had waited for its sockets a minute ago.
                loop.clock.pointee -= 60_000_000_000
                return try await transport.deliver(request("http://h.invalid:\(server.port)/", .buffered(upTo: 10)))
            }
            #expect(response.status == 200)
        }

        @Test func `It has as long as connecting may take`() async throws {
            struct Endless: Sendable {
                let gate: Gate
                func addresses(of host: String) async throws -> [String] {
                    await gate.wait()
                    return []
                }
            }
            let gate = Gate()
            let transport = wireTransport(
                configuration: TransportConfiguration(resolver: Endless(gate: gate).addresses, connectTimeout: .milliseconds(20)))
            let error = await failure(transport, "http://h.invalid/")
            #expect(error?.code == .timeout && error?.message.hasSuffix("the lookup of a name wasn't answered.") == true)
            gate.open()
        }
    }
#endif
