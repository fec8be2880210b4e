#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCache
    import MidstreamCacheStore
    import MidstreamCore
    import MidstreamTesting
    import TestSupport
    import Testing

    @testable import MidstreamFleet

    @Suite("A fleet's cache", .leavesNothing, .timeLimit(.minutes(10)))
    struct CacheTests {
        static func client(
            _ fleet: Fleet, _ sends: Locked<Int>, tiered: Bool = false, length: Int = 600_000
        ) -> HTTPClient {
            let stub = StubTransport { request in
                sends.withLock { $0 += 1 }
                return HTTPResponse(
                    status: 200, headers: ["Cache-Control": "max-age=600", "ETag": "\"a\""],
                    body: .bytes((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }), request: request)
            }
            return testClient(transport: stub) {
                if tiered {
                    CacheInterceptor(
                        .shared, store: TieredStore(MemoryCacheStore(), fleet.cache(), forgetting: fleet.invalidations))
                } else {
                    CacheInterceptor(.shared, store: fleet.cache())
                }
            }
        }

        @Test("keeps the laws of stores")
        func laws() async throws {
            let server = try await RedisServer()
            try await assertCacheStoreLaws { try! server.fleet(UUID().uuidString).cache() }
        }

        @Test("answers all members with what one has fetched")
        func shared() async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let clients = try (0..<3).map { _ in Self.client(try server.fleet(), sends) }
            for client in clients {
                let response = try await client.send(HTTPRequest("https://h.test/a"))
                #expect(response.data.count == 600_000)
            }
            #expect(sends.withLock { $0 } == 1)
        }

        @Test("takes what is damaged, foreign or gone for a miss")
        func damage() async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let fleet = try server.fleet()
            let client = Self.client(fleet, sends)
            let damages: [(String) -> [String]] = [
                { ["DEL", $0] }, { ["SETRANGE", $0, "100", "x"] }, { ["SET", $0, "foreign"] }, { ["APPEND", $0, "x"] },
                { ["LPUSH", $0 + ":list", "x"] },
            ]
            var expected = 0
            for (number, damage) in damages.enumerated() {
                let url = "https://h.test/\(number)"
                for _ in 0..<2 { _ = try await client.send(HTTPRequest(url)) }
                expected += 1
                #expect(sends.withLock { $0 } == expected)
                let names = try await server.command(["KEYS", "*:b:*"]).elements?.compactMap(\.string) ?? []
                let piece = try #require(names.sorted().last)
                try await server.command(damage(piece))
                if damage(piece)[0] == "LPUSH" { continue }
                #expect(try await client.send(HTTPRequest(url)).data.count == 600_000)
                expected += 1
                #expect(sends.withLock { $0 } == expected)
                let before = fleet.core.removals
                _ = try await server.command(["FLUSHALL"])
                // Nothing is stored that is fetched before it is heard of.
                await eventually { fleet.core.removals > before }
            }
            // Another kind of value where responses are expected.
            for name in try await server.command(["KEYS", "*:c:*"]).elements?.compactMap(\.string) ?? [] {
                try await server.command(["SET", name, "foreign"])
            }
            #expect(try await client.send(HTTPRequest("https://h.test/4")).data.count == 600_000)
        }

        @Test(
            "takes places that make no sense for a miss",
            arguments: ["9223372036854775807 1 x", "4194305 1 x", "-1 1 x", "0 9223372036854775807 x"])
        func places(list: String) async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let client = Self.client(try server.fleet(), sends, length: 100)
            for _ in 0..<2 { _ = try await client.send(HTTPRequest("https://h.test/a")) }
            #expect(sends.withLock { $0 } == 1)
            let names = try await server.command(["KEYS", "*:c:*"]).elements?.compactMap(\.string) ?? []
            let name = try #require(names.first)
            let fields = try await server.command(["HKEYS", name]).elements?.compactMap(\.string) ?? []
            let field = try #require(fields.first { $0.hasPrefix("p") })
            try await server.command(["HSET", name, field, list])
            #expect(try await client.send(HTTPRequest("https://h.test/a")).data.count == 100)
            #expect(sends.withLock { $0 } == 2)
        }

        @Test("takes the bytes of another response, or of another place in its own, for a miss", arguments: [false, true])
        func movedBytes(ofAnother: Bool) async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let fleet = try server.fleet()
            let client = Self.client(fleet, sends, length: 2 * FleetCacheStore.pieceLength)
            func pieces(of url: String) async throws -> (name: String, field: String, list: String) {
                let name = fleet.core.names.responses(CacheKey(url: url)).responses
                let fields = try await server.command(["HKEYS", name]).elements?.compactMap(\.string) ?? []
                let field = try #require(fields.first { $0.hasPrefix("p") })
                let list = try #require(try await server.command(["HGET", name, field]).string)
                return (name, field, list)
            }
            let urls = ["https://h.test/a", "https://h.test/b"]
            for url in urls + urls { _ = try await client.send(HTTPRequest(url)) }
            #expect(sends.withLock { $0 } == 2)
            let (own, other) = (try await pieces(of: urls[0]), try await pieces(of: urls[1]))
            let lines = own.list.split(separator: "\n").map { $0.split(separator: " ") }
            let exchanged = zip(lines, lines.reversed()).map { "\($0[0]) \($0[1]) \($1[2])" }.joined(separator: "\n")
            #expect(exchanged != own.list)
            try await server.command(["HSET", own.name, own.field, ofAnother ? other.list : exchanged])
            _ = try await client.send(HTTPRequest(urls[0]))
            #expect(sends.withLock { $0 } == 3)
        }

        @Test("takes what Redis evicts while it is written and read for a miss")
        func eviction() async throws {
            let server = try await RedisServer(["--maxmemory", "6mb", "--maxmemory-policy", "allkeys-random"])
            let sends = Locked(0)
            let client = Self.client(try server.fleet(), sends)
            let expected = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            for _ in 0..<2 {
                for number in 0..<20 {
                    let response = try await client.send(HTTPRequest("https://h.test/\(number)"))
                    #expect(response.data.elementsEqual(expected))
                }
            }
            // Twelve megabytes don't fit.
            #expect(sends.withLock { $0 } > 20)
        }

        @Test("tells near caches what others have removed", arguments: [false, true])
        func invalidations(isCut: Bool) async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let clients = try (0..<3).map { _ in Self.client(try server.fleet(), sends, tiered: true, length: 100) }
            for client in clients { for _ in 0..<2 { _ = try await client.send(HTTPRequest("https://h.test/a")) } }
            #expect(sends.withLock { $0 } == 1)
            // The connections of messages, as a network would cut them.
            if isCut { try await server.command(["CLIENT", "KILL", "TYPE", "pubsub"]) }
            _ = try await clients[0].send(HTTPRequest(.delete, "https://h.test/a"))
            for client in clients[1...] {
                await eventually {
                    let before = sends.withLock { $0 }
                    _ = try? await client.send(HTTPRequest("https://h.test/a"))
                    return sends.withLock { $0 } > before || before > 2
                }
            }
            #expect(sends.withLock { $0 } >= 3)
        }

        @Test("never gives out again what was removed, though Redis forgets the removal", arguments: ["u", "o", "a"])
        func forgottenRemovals(kind: String) async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let fleet = try server.fleet()
            let (client, cache) = (Self.client(fleet, sends, length: 100), fleet.cache())
            let request = HTTPRequest("https://h.test/a")
            for _ in 0..<2 { _ = try await client.send(request) }
            #expect(sends.withLock { $0 } == 1)
            let before = fleet.core.removals
            try await Self.remove(kind, from: cache)
            // It comes back as a message, before which nothing is stored that is fetched.
            await eventually { fleet.core.removals >= before + 2 }
            // As when it expires or is evicted.
            let names = try await server.command(["KEYS", "*:\(kind):*"]).elements?.compactMap(\.string) ?? []
            #expect(names.count == 1)
            for name in names { try await server.command(["DEL", name]) }
            for _ in 0..<2 { _ = try await client.send(request) }
            #expect(sends.withLock { $0 } == 2)
            // What is valid by it lasts as long as what is stored.
            for name in names { #expect(try await server.command(["PTTL", name]).number ?? 0 > 120_000) }
        }

        private static func remove(_ kind: String, from cache: some CacheStore) async throws {
            switch kind {
            case "u": try await cache.remove(CacheKey(url: "https://h.test/a"))
            case "o": try await cache.removeAll(origin: "https://h.test")
            default: try await cache.removeAll(origin: nil)
            }
        }

        @Test("never gives out again what was removed, though Redis comes back with data from before")
        func oldData() async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let fleet = try server.fleet()
            let (client, request) = (Self.client(fleet, sends, length: 100), HTTPRequest("https://h.test/a"))
            for _ in 0..<2 { _ = try await client.send(request) }
            #expect(sends.withLock { $0 } == 1)
            try await server.command(["SAVE"])
            try await Self.remove("u", from: fleet.cache())
            await server.kill()
            await eventually { fleet.state.isDegraded }
            try await server.start()
            await eventually { !fleet.state.isDegraded }
            _ = try await client.send(request)
            #expect(sends.withLock { $0 } == 2)
        }

        @Test("loses nothing when a member connects again to the same Redis")
        func lostConnection() async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let fleet = try server.fleet()
            let (client, request) = (Self.client(fleet, sends, length: 100), HTTPRequest("https://h.test/a"))
            for _ in 0..<2 { _ = try await client.send(request) }
            let before = fleet.core.removals
            try await server.command(["CLIENT", "KILL", "TYPE", "normal"])
            // Both the end and the beginning of a connection count as a removal.
            await eventually { fleet.core.removals >= before + 2 }
            _ = try await client.send(request)
            #expect(sends.withLock { $0 } == 1)
        }

        @Test("removes also for members whose first key is the other one", arguments: ["u", "o", "a"])
        func otherKeyFirst(kind: String) async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let client = Self.client(try server.fleet(key: makeKey(1, alsoOpening: 2)), sends, length: 100)
            let other = try server.fleet(key: makeKey(2, alsoOpening: 1))
            let request = HTTPRequest("https://h.test/a")
            for _ in 0..<2 { _ = try await client.send(request) }
            #expect(sends.withLock { $0 } == 1)
            try await Self.remove(kind, from: other.cache())
            _ = try await client.send(request)
            #expect(sends.withLock { $0 } == 2)
        }

        @Test("doesn't keep what another member removes while it is on its way", arguments: ["u", "o", "a"])
        func removedOnItsWay(kind: String) async throws {
            let server = try await RedisServer()
            let (fleet, other) = (try server.fleet(), try server.fleet())
            let (gate, sends) = (Gate(), Locked(0))
            let stub = StubTransport { request in
                sends.withLock { $0 += 1 }
                await gate.wait()
                return HTTPResponse(
                    status: 200, headers: ["Cache-Control": "max-age=600"], body: .bytes([1]), request: request)
            }
            let client = testClient(transport: stub) { CacheInterceptor(.shared, store: fleet.cache()) }
            let request = HTTPRequest("https://h.test/a")
            let waiting = Task { try await client.send(request).data }
            await gate.reached()
            let before = fleet.core.removals
            try await Self.remove(kind, from: other.cache())
            await eventually { fleet.core.removals > before }
            gate.open()
            _ = try await waiting.value
            for _ in 0..<2 { _ = try await client.send(request) }
            #expect(sends.withLock { $0 } == 2)
        }

        @Test("gives out nothing of an earlier version that is valid by what isn't there", arguments: 0..<3)
        func missingStamps(place: Int) async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let fleet = try server.fleet()
            let client = Self.client(fleet, sends, length: 100)
            let request = HTTPRequest("https://h.test/a")
            for _ in 0..<2 { _ = try await client.send(request) }
            #expect(sends.withLock { $0 } == 1)
            let keys = fleet.core.names.responses(CacheKey(url: "https://h.test/a"))
            try await server.command(["DEL", keys.stamps[place]])
            var stamps: [String] = []
            for name in keys.stamps { stamps.append(try await server.command(["GET", name]).string ?? "") }
            #expect(stamps.filter(\.isEmpty).count == 1)
            try await server.command(["HSET", keys.responses, "s", stamps.joined(separator: " ")])
            _ = try await client.send(request)
            #expect(sends.withLock { $0 } == 2)
        }

        @Test("keeps the newest variants of a URL")
        func variants() async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let stub = StubTransport { request in
                sends.withLock { $0 += 1 }
                return HTTPResponse(
                    status: 200, headers: ["Cache-Control": "max-age=600", "Vary": "Accept-Language"], body: .bytes([1]),
                    request: request)
            }
            let fleet = try server.fleet()
            let client = testClient(transport: stub) { CacheInterceptor(.shared, store: fleet.cache()) }
            func get(_ number: Int) async throws {
                _ = try await client.send(HTTPRequest("https://h.test/a", headers: ["Accept-Language": "l\(number)"]))
            }
            for number in 1...40 { try await get(number) }
            #expect(sends.withLock { $0 } == 40)
            let names = try await server.command(["KEYS", "*:c:*"]).elements?.compactMap(\.string) ?? []
            let name = try #require(names.first)
            #expect(try await server.command(["HLEN", name]).number == 1 + 32 * 5)
            for number in 9...40 { try await get(number) }
            #expect(sends.withLock { $0 } == 40)
            try await get(8)
            #expect(sends.withLock { $0 } == 41)
        }

        @Test("doesn't answer with what is removed while the server is waited for", arguments: [false, true])
        func removedMeanwhile(byAnother: Bool) async throws {
            let server = try await RedisServer()
            let (fleet, other) = (try server.fleet(), try server.fleet())
            let (gate, isFirst) = (Gate(), Locked(true))
            let stub = StubTransport { request in
                let isStored = isFirst.lower()
                if !isStored { await gate.wait() }
                return HTTPResponse(
                    status: isStored ? 200 : 503, headers: isStored ? ["Cache-Control": "max-age=0, stale-if-error=600"] : [:],
                    body: .bytes([1]), request: request)
            }
            var configuration = HTTPClient.Configuration()
            configuration.validators = []
            let cache = CacheInterceptor(.shared, store: fleet.cache())
            let client = testClient(configuration: configuration, transport: stub) { cache }
            let request = HTTPRequest("https://h.test/a")
            _ = try await client.send(request)
            let waiting = Task { try await client.send(request).status }
            await gate.reached()
            let before = fleet.core.removals
            if byAnother { try await other.cache().removeAll(origin: nil) } else { await cache.removeAll() }
            await eventually { fleet.core.removals > before }
            gate.open()
            #expect(try await waiting.value == 503)
        }

        @Test("is told of a removal that it couldn't take as soon as it can", arguments: [false, true])
        func owedRemoval(ofAll: Bool) async throws {
            let server = try await RedisServer()
            let (here, there) = (try server.fleet().cache(), try server.fleet().cache())
            let (key, request) = (CacheKey(url: "https://h.test/a"), HTTPRequest("https://h.test/a"))
            let response = HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=600"], request: request)
            let entry = CacheEntry(of: response, to: request, key: key, length: 1)
            let writer = try await here.writer(for: entry, at: 0)
            try await writer.write([1])
            #expect(try await writer.commit(entry.adding(0..<1)) { true })
            #expect(try await there.entries(for: key).count == 1)
            try await server.command(["REPLICAOF", "127.0.0.1", "1"])
            await #expect(throws: (any Error).self) {
                if ofAll { try await here.removeAll(origin: nil) } else { try await here.remove(key) }
            }
            try await server.command(["REPLICAOF", "NO", "ONE"])
            await eventually { (try? await there.entries(for: key))?.isEmpty == true }
        }

        private static let key = CacheKey(url: "https://h.test/a")

        /// An entry, by the clock of a member.
        private static func made(secondsAgo: Double = 0, length: Int64 = 1) -> CacheEntry {
            let request = HTTPRequest("https://h.test/a")
            let response = HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=600"], request: request)
            return CacheEntry(of: response, to: request, key: key, length: length, at: Date(timeIntervalSinceNow: -secondsAgo))
        }

        @Test("keeps what began to come later, whatever members' clocks say, when something else ends after it")
        func lateEnd() async throws {
            let server = try await RedisServer()
            let (cache, key) = (try server.fleet().cache(), Self.key)
            let (old, new, last) = (Self.made(secondsAgo: 30), Self.made(secondsAgo: 60), Self.made(secondsAgo: 90))
            let late = try await cache.writer(for: old, at: 0)
            for (entry, byte) in [(new, 2), (old, 1), (last, 3)] as [(CacheEntry, UInt8)] {
                let writer = try await entry.id == old.id ? late : cache.writer(for: entry, at: 0)
                try await writer.write([byte])
                let isStored = try await writer.commit(entry.adding(0..<1)) { true }
                #expect(isStored == (entry.id != old.id))
                #expect(try await cache.entries(for: key).map(\.id) == [entry.id == old.id ? new.id : entry.id])
            }
        }

        @Test(
            "keeps what was confirmed after something else had begun to come, but not what was found changed",
            arguments: [nil, false, true] as [Bool?])
        func updatedMeanwhile(isConfirmed: Bool?) async throws {
            let server = try await RedisServer()
            let (cache, first, second) = (try server.fleet().cache(), Self.made(), Self.made())
            func commit(_ entry: CacheEntry, by writer: any CacheWriter) async throws -> Bool {
                try await writer.write([1])
                return try await writer.commit(entry.adding(0..<1)) { true }
            }
            let isStored = try await commit(first, by: cache.writer(for: first, at: 0))
            #expect(isStored)
            let late = try await cache.writer(for: second, at: 0)
            if let isConfirmed {
                #expect(try await cache.update(isConfirmed ? first : first.with(first.head.invalidated)))
            }
            let isKept = isConfirmed == true
            #expect(try await commit(second, by: late) != isKept)
            #expect(try await cache.entries(for: Self.key).map(\.id) == [isKept ? first.id : second.id])
        }

        @Test(
            "keeps a whole response for a later part, unless it was found changed",
            arguments: [[], [false], [false, true]] as [[Bool]])
        func laterPart(areConfirmed: [Bool]) async throws {
            let server = try await RedisServer()
            let (cache, whole) = (try server.fleet().cache(), Self.made(length: 2))
            func isStored(_ entry: CacheEntry, _ bytes: [UInt8]) async throws -> Bool {
                let writer = try await cache.writer(for: entry, at: 0)
                try await writer.write(bytes)
                return try await writer.commit(entry.adding(0..<Int64(bytes.count))) { true }
            }
            #expect(try await isStored(whole, [1, 2]))
            for isConfirmed in areConfirmed {
                #expect(try await cache.update(isConfirmed ? whole : whole.with(whole.head.invalidated)))
            }
            let isKept = areConfirmed.last != false
            #expect(try await isStored(Self.made(length: 2), [1]) != isKept)
            #expect(try await cache.entries(for: Self.key).map(\.isWhole) == [isKept])
        }

        @Test("keeps the bytes of a response that is confirmed or gets more for as long as its head", arguments: [true, false])
        func prolonged(isConfirmed: Bool) async throws {
            let server = try await RedisServer()
            let fleet = try server.fleet()
            let (store, names) = (fleet.core.store, fleet.core.names)
            let keys = names.responses(CacheKey(url: "https://h.test/a"))
            let stamps = try await store.responses(keys, toKeep: .seconds(60)).get().stamps
            let places: [Int64] = [0, 1]
            let pieces = places.map { StoredResponse.Piece(offset: $0, length: 1, name: names.piece(1, $0)) }
            for piece in pieces { store.keepPiece([1], as: piece.name, life: .seconds(60)) }
            func keep(_ count: Int, for life: Duration) async -> Answer<Bool> {
                let response = StoredResponse(id: 1, variant: "", head: [1], pieces: Array(pieces.prefix(count)))
                let commit = ResponseCommit(keys: keys, response: response, stamps: stamps, begun: 1, life: life)
                return await store.keep(commit) { true }
            }
            if isConfirmed {
                #expect(await keep(2, for: .seconds(60)) == .success(true))
                #expect(await store.update(keys, id: 1, head: [2], life: .seconds(600), isConfirmed: true) == .success(true))
            } else {
                #expect(await keep(1, for: .seconds(60)) == .success(true))
                #expect(await keep(2, for: .seconds(600)) == .success(true))
            }
            for name in [keys.responses] + keys.stamps + pieces.map(\.name) {
                #expect(try await server.command(["PTTL", name]).number ?? 0 > 120_000, "\(name)")
            }
        }

        @Test("keeps what becomes no response for an hour at most", arguments: [false, true])
        func abandoned(isKept: Bool) async throws {
            let server = try await RedisServer()
            let fleet = try server.fleet()
            let key = CacheKey(url: "https://h.test/a")
            let request = HTTPRequest("https://h.test/a")
            let response = HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=31536000"], request: request)
            let entry = CacheEntry(of: response, to: request, key: key, length: 300_000)
            let writer = try await fleet.cache().writer(for: entry, at: 0)
            try await writer.write([UInt8](repeating: 1, count: 300_000))
            if isKept {
                #expect(try await writer.commit(entry.adding(0..<300_000)) { true })
            } else {
                await writer.abandon()
            }
            func pieces() async throws -> [String] {
                try await server.command(["KEYS", "*:b:*"]).elements?.compactMap(\.string) ?? []
            }
            let count = isKept ? 2 : 1
            await eventually { (try? await pieces().count) == count }
            for name in try await pieces() + fleet.core.names.responses(key).stamps {
                let left = try await server.command(["PTTL", name]).number ?? -1
                #expect(left > 0 && (left <= 3_600_000) == !isKept, "\(name)")
            }
        }

        @Test("keeps nothing readable, nor anything for ever")
        func secrets() async throws {
            let server = try await RedisServer()
            let client = Self.client(try server.fleet(), Locked(0))
            _ = try await client.send(HTTPRequest("https://canary.test/canary"))
            let names = try #require(try await server.command(["KEYS", "*"]).elements?.compactMap(\.string))
            for name in names {
                #expect(!name.contains("canary"))
                #expect(try await server.command(["PTTL", name]).number ?? -1 > 0, "\(name) never expires")
                let value = try await server.command(["DUMP", name]).content ?? []
                #expect(!String(decoding: value, as: UTF8.self).contains("canary"))
            }
        }

        @Test("doesn't keep what is too long")
        func long() async throws {
            let server = try await RedisServer()
            let sends = Locked(0)
            let client = Self.client(try server.fleet(), sends, length: 5 << 20)
            for _ in 0..<2 { _ = try await client.send(HTTPRequest("https://h.test/a")) }
            #expect(sends.withLock { $0 } == 2)
        }
    }
#endif
