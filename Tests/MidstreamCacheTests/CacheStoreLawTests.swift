import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("The laws of stores hold", .leavesNothing, .timeLimit(.minutes(10)))
struct CacheStoreLawTests {
    @Test("for the store in memory")
    func memory() async throws { try await assertCacheStoreLaws { MemoryCacheStore() } }

    @Test("for a decorated one")
    func decorated() async throws { try await assertCacheStoreLaws { DecoratedStore(base: MemoryCacheStore()) } }

    @Test("for two in tiers, also where the quick one is small")
    func tiers() async throws {
        for bytes in [64 << 20, 10_000] as [Int64] {
            try await assertCacheStoreLaws { TieredStore(MemoryCacheStore(maximumBytes: bytes), MemoryCacheStore()) }
        }
    }

    @Test("and those in memory, two in tiers as well, answer at once what they were asked for before")
    func atOnce() async throws {
        let stores: [any CacheStore] = [MemoryCacheStore(), TieredStore(MemoryCacheStore(), MemoryCacheStore())]
        for store in stores {
            let stub = StubTransport { request in
                HTTPResponse(status: .ok, headers: ["Cache-Control": "max-age=600"], body: .bytes([1]), request: request)
            }
            let client = testClient(transport: stub) { CacheInterceptor(.shared, store: store) }
            for _ in 0..<2 { _ = try await client.send(HTTPRequest("https://h.test/a")) }
            let entries = try #require(store.entriesNow(for: CacheKey(url: "https://h.test/a")))
            #expect(entries.count == 1)
            for entry in entries { #expect(store.bodyNow(of: entry, range: nil)?.bytes == [1]) }
        }
    }
}
