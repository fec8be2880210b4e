#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCache
    import MidstreamCacheStore
    import MidstreamCore
    import MidstreamTesting
    import MidstreamTransport
    import MidstreamWire
    import TestSupport
    import Testing

    @testable import MidstreamFleet

    @Suite("The near caches of a member", .leavesNothing, .timeLimit(.minutes(10)))
    struct NearCacheTests {
        @Test("hear of what the member itself stores by another one")
        func ownNews() async throws {
            let server = try await RedisServer()
            let (fleet, version) = (try server.fleet(), Locked<UInt8>(1))
            let clients = (0..<2).map { _ in
                let stub = StubTransport { request in
                    HTTPResponse(
                        status: 200, headers: ["Cache-Control": "max-age=600"], body: .bytes([version.withLock { $0 }]),
                        request: request)
                }
                // Nothing but a message makes it ask again.
                let store = TieredStore(
                    MemoryCacheStore(), fleet.cache(), forgetting: fleet.invalidations, trust: .seconds(86_400))
                return testClient(transport: stub) { CacheInterceptor(.shared, store: store) }
            }
            let request = HTTPRequest("https://h.test/a")
            for client in clients { for _ in 0..<2 { #expect(try await client.send(request).data.first == 1) } }
            version.withLock { $0 = 2 }
            var reload = request
            reload.cache = .reload
            await eventually {
                // Again, since nothing is stored that comes while it hears of what was.
                _ = try? await clients[0].send(reload)
                return (try? await clients[1].send(request))?.data.first == 2
            }
        }

        /// What a script has changed Redis tells its caller in any case.
        @Test("hear of what a command of the member changes")
        func ownCommand() async throws {
            let server = try await RedisServer()
            let transport = wireTransport(configuration: .init(usesCallersThreads: false))
            defer { transport.close() }
            let origin = try #require(HTTPOrigin("http://localhost:\(server.port)"))
            let heard = Locked<[String]>([])
            let session = try await RedisSession(
                { try await transport.connect(to: origin, tls: nil, timeout: .seconds(60)) }, greeting: [], watching: ["c:"],
                news: "news", onMessage: { _, content in heard.withLock { $0 += content ?? [] } }, onEnd: { _ in })
            defer { session.close() }
            await eventually {
                // Again, since it may not listen yet.
                _ = session.commands.send(RESPCommand("SET", "c:1", "1"))
                return heard.withLock { $0.contains("c:1") }
            }
        }
    }
#endif
