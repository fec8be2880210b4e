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

        @Test("hear once of a URL that is removed, however many owners have asked for it")
        func owners() async {
            let near = nearKeys()
            let stream = near.forgotten.stream()
            for owner in 0..<10 {
                let key = CacheKey(url: "https://h.test/a", partition: "\(owner)")
                near.note(key, ResponseKeys(responses: "c:\(owner)", stamps: ["a", "o", "u"]))
                near.forget(["c:\(owner)"])
            }
            near.forget(["u"])
            near.forget(["o"])
            near.forgotten.close()
            var heard: [String] = []
            for await key in stream { heard.append(key.url) }
            // Once for each response, for the URL and for the origin.
            #expect(heard == Array(repeating: "https://h.test/a", count: 12))
        }

        @Test("hear of what a member removes whose first key is the other one")
        func otherKeyFirst() async throws {
            let server = try await RedisServer()
            let (fleet, other) = (
                try server.fleet(key: makeKey(1, alsoOpening: 2)), try server.fleet(key: makeKey(2, alsoOpening: 1))
            )
            let (key, near) = (CacheKey(url: "https://h.test/a"), fleet.core.near)
            // What the first one reads is forgotten when it has connected.
            _ = try await fleet.cache().entries(for: key)
            let stream = near.forgotten.stream()
            _ = try await fleet.cache().entries(for: key)
            let before = fleet.core.removals
            try await other.cache().remove(key)
            try await other.cache().removeAll(origin: key.origin)
            // Each under both names.
            await eventually(within: .seconds(60)) { fleet.core.removals >= before + 4 }
            near.forgotten.close()
            var count = 0
            for await forgotten in stream where forgotten == key { count += 1 }
            #expect(count == 2)
        }

        @Test("hear of everything before too much is remembered for them, also of one origin whose URLs are removed")
        func bounded() async {
            let near = nearKeys()
            let reader = near.forgotten.stream()
            for number in 0..<30_500 {
                let key = CacheKey(url: "https://h.test/\(number)")
                near.note(key, ResponseKeys(responses: "c:\(number)", stamps: ["a", "o", "u:\(number)"]))
                near.forget(["c:\(number)", "u:\(number)"])
            }
            let stream = near.forgotten.stream()
            near.forget(["o"])
            near.forgotten.close()
            var count = 0
            for await _ in stream { count += 1 }
            #expect(count > 0 && count < 1_000)
            withExtendedLifetime(reader) {}
        }

        @Test("may have too much remembered for them without costing a response that is under way its place in the store")
        func underWay() {
            let names = FleetNames(fleet: "test", key: testKey)
            let (near, removals) = (NearKeys(names), names.newRemovals())
            near.count(in: removals)
            let reader = near.forgotten.stream()
            let key = CacheKey(url: "https://h.test/a")
            near.note(key, names.responses(key))
            let permit = removals.permit()
            for number in 0..<10_500 {
                let stamps = ["a", "o", "u:\(number)"]
                near.note(CacheKey(url: "https://h.test/\(number)"), ResponseKeys(responses: "c:\(number)", stamps: stamps))
            }
            near.forget([names.url("https://h.test/b"), names.origin("https://other.test")])
            #expect(permit.holds(for: key))
            // Though nothing is remembered of it.
            near.forget([names.url(key.url)])
            #expect(!permit.holds(for: key) && permit.holds(forOriginOf: key))
            near.forget([names.origin(key.origin)])
            #expect(!permit.holds(forOriginOf: key))
            withExtendedLifetime(reader) {}
        }

        private func nearKeys() -> NearKeys { NearKeys(FleetNames(fleet: "test", key: testKey)) }

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

        /// The way to a server that doesn't know `CLIENT TRACKING`.
        private struct Untracked: ByteChannel {
            let channel: any ByteChannel

            nonisolated(nonsending) func read() async throws -> [UInt8]? { try await channel.read() }
            nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
                let text = String(decoding: bytes, as: UTF8.self).replacing("TRACKING", with: "TRACKERS")
                try await channel.write(Array(text.utf8))
            }
            func close() { channel.close() }
        }

        @Test("hear of removals also where the server can't tell of changes")
        func withoutTracking() async throws {
            let server = try await RedisServer()
            let transport = wireTransport(configuration: .init(usesCallersThreads: false))
            defer { transport.close() }
            let origin = try #require(HTTPOrigin("http://localhost:\(server.port)"))
            let heard = Locked<[String]>([])
            let session = try await RedisSession(
                { Untracked(channel: try await transport.connect(to: origin, tls: nil, timeout: .seconds(60))) }, greeting: [],
                watching: ["c:"], news: "news", onMessage: { _, content in heard.withLock { $0 += content ?? [] } },
                onEnd: { _ in })
            defer { session.close() }
            _ = session.commands.send(
                session.command(.remove, keys: ["u:1"], ["\(RedisStore.stampLife.wholeMilliseconds)", "news"]))
            await eventually(within: .seconds(60)) { heard.withLock { $0.contains("u:1") } }
            #expect(heard.withLock { $0 } == ["u:1"])
        }
    }
#endif
