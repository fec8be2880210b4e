import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("A near store before one that others share", .leavesNothing)
struct ForgettingTests {
    @Test("forgets what it is told to")
    func forgets() async throws {
        let sends = Locked(0)
        let far = MemoryCacheStore()
        let (forgotten, others) = AsyncStream.makeStream(of: CacheKey.self)
        let stub = StubTransport { request in
            sends.withLock { $0 += 1 }
            return HTTPResponse(status: .ok, headers: ["Cache-Control": "max-age=600"], body: .bytes([1]), request: request)
        }
        let client = testClient(transport: stub) {
            CacheInterceptor(
                .shared, store: TieredStore(MemoryCacheStore(), far, forgetting: forgotten, trust: .seconds(86_400)))
        }
        let request = HTTPRequest("https://h.test/a")
        for _ in 0..<3 { _ = try await client.send(request) }
        #expect(sends.withLock { $0 } == 1)
        // As another process does it.
        await far.remove(CacheKey(url: "https://h.test/a"))
        _ = try await client.send(request)
        #expect(sends.withLock { $0 } == 1)
        others.yield(CacheKey(url: "https://h.test/a"))
        await eventually {
            _ = try? await client.send(request)
            return sends.withLock { $0 } == 2
        }
    }

    @Test("doesn't hold the client of the call within which it was made")
    func madeWithinACall() async throws {
        let (forgotten, others) = AsyncStream.makeStream(of: CacheKey.self)
        let store = Locked<TieredStore?>(nil)
        weak var client: HTTPClient?
        do {
            let made = testClient(transport: StubTransport(status: .ok)) {
                ClosureRequestInterceptor { _ in
                    store.withLock { $0 = TieredStore(MemoryCacheStore(), MemoryCacheStore(), forgetting: forgotten) }
                }
            }
            client = made
            _ = try await made.send(HTTPRequest("https://h.test/a"))
        }
        // The tasks that have answered may still be on their way out.
        await eventually(within: .seconds(120)) { client == nil }
        let isThere = store.withLock { $0 != nil }
        #expect(client == nil && isThere)
        others.finish()
    }

    @Test("forgets a URL for all its owners, and no other URL")
    func owners() async throws {
        let (forgotten, others) = AsyncStream.makeStream(of: CacheKey.self)
        let store = TieredStore(MemoryCacheStore(), MemoryCacheStore(), forgetting: forgotten, trust: .seconds(86_400))
        let keys = [("a", "1"), ("a", "2"), ("b", "1")].map { CacheKey(url: "https://h.test/\($0)", partition: $1) }
        // That there is nothing is known as well.
        for key in keys { #expect(try await store.entries(for: key).isEmpty) }
        for key in keys { #expect(store.entriesNow(for: key)?.isEmpty == true) }
        others.yield(CacheKey(url: "https://h.test/a"))
        await eventually { store.entriesNow(for: keys[0]) == nil && store.entriesNow(for: keys[1]) == nil }
        #expect(store.entriesNow(for: keys[2])?.isEmpty == true)
    }

    @Test("isn't given again by a late reader what has been replaced since that one looked")
    func lookedBefore() async throws {
        let held = HeldStore()
        let store = TieredStore(MemoryCacheStore(), held)
        let (key, request) = (CacheKey(url: "https://h.test/a"), HTTPRequest("https://h.test/a"))
        func stored(_ byte: UInt8) async throws -> CacheEntry {
            let response = HTTPResponse(status: .ok, headers: ["Cache-Control": "max-age=600"], request: request)
            let entry = CacheEntry(of: response, to: request, key: key, length: 1)
            let writer = try await store.writer(for: entry, at: 0)
            try await writer.write([byte])
            let isStored = try await writer.commit(entry.adding(0..<1)) { true }
            #expect(isStored)
            return entry
        }
        let old = try await stored(1)
        let late = Task { try await store.entries(for: key) }
        await held.gate.reached()
        let new = try await stored(2)
        held.gate.open()
        let found = try #require(try await late.value.first)
        #expect(found.id == old.id)
        #expect(try await store.body(of: found, range: nil).collect() == [1])
        #expect(try await store.entries(for: key).map(\.id) == [new.id])
    }

    @Test("lists what it was given in the order of the other, the newest first")
    func order() async throws {
        let far = MemoryCacheStore()
        let store = TieredStore(MemoryCacheStore(), far)
        let key = CacheKey(url: "https://h.test/a")
        for language in ["en", "de"] {
            let request = HTTPRequest("https://h.test/a", headers: ["Accept-Language": .init(language)])
            let response = HTTPResponse(
                status: .ok, headers: ["Cache-Control": "max-age=600", "Vary": "Accept-Language"], request: request)
            let entry = CacheEntry(of: response, to: request, key: key, length: 1)
            let writer = await far.writer(for: entry, at: 0)
            try await writer.write([1])
            let isStored = try await writer.commit(entry.adding(0..<1)) { true }
            #expect(isStored)
        }
        let entries = try await store.entries(for: key)
        #expect(entries.count == 2)
        // Each is copied before those that were copied earlier.
        for entry in entries { #expect(try await store.body(of: entry, range: nil).collect() == [1]) }
        #expect(try await store.entries(for: key).map(\.id) == entries.map(\.id))
        #expect(store.entriesNow(for: key)?.map(\.id) == entries.map(\.id))
    }

    @Test("gives way where the other has kept something else", arguments: [false, true])
    func otherOrder(isWrittenToBoth: Bool) async throws {
        let (near, far) = (MemoryCacheStore(), MemoryCacheStore())
        let store = TieredStore(near, far)
        let (key, request) = (CacheKey(url: "https://h.test/a"), HTTPRequest("https://h.test/a"))
        func put(_ byte: UInt8, in store: any CacheStore, secondsAgo: Double) async throws {
            let response = HTTPResponse(status: .ok, headers: ["Cache-Control": "max-age=600"], request: request)
            let now = Date(timeIntervalSinceNow: -secondsAgo)
            let entry = CacheEntry(of: response, to: request, key: key, length: 1, at: now)
            let writer = try await store.writer(for: entry, at: 0)
            try await writer.write([byte])
            let isStored = try await writer.commit(entry.adding(0..<1)) { true }
            #expect(isStored)
        }
        try await put(1, in: near, secondsAgo: 10)
        try await put(2, in: isWrittenToBoth ? store : far, secondsAgo: 20)
        // The first copy is refused where nothing but the copying tells that they differ.
        for _ in 0..<(isWrittenToBoth ? 1 : 2) {
            let entry = try #require(try await store.entries(for: key).first)
            #expect(try await store.body(of: entry, range: nil).collect() == [2])
        }
        #expect(store.entriesNow(for: key)?.count == 1)
    }

    @Test("doesn't answer alone once the trust is over")
    func trust() async throws {
        let sends = Locked(0)
        let far = MemoryCacheStore()
        let (forgotten, others) = AsyncStream.makeStream(of: CacheKey.self)
        let stub = StubTransport { request in
            sends.withLock { $0 += 1 }
            return HTTPResponse(status: .ok, headers: ["Cache-Control": "max-age=600"], body: .bytes([1]), request: request)
        }
        let client = testClient(transport: stub) {
            CacheInterceptor(.shared, store: TieredStore(MemoryCacheStore(), far, forgetting: forgotten, trust: .zero))
        }
        for _ in 0..<2 { _ = try await client.send(HTTPRequest("https://h.test/a")) }
        #expect(sends.withLock { $0 } == 1)
        await far.remove(CacheKey(url: "https://h.test/a"))
        _ = try await client.send(HTTPRequest("https://h.test/a"))
        #expect(sends.withLock { $0 } == 2)
        others.finish()
    }
}
