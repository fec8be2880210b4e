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
}
