import Foundation
import MidstreamCache
import MidstreamCacheStore
import MidstreamDiskCache
import MidstreamTesting
import TestSupport
import Testing

@Suite("The laws of stores hold", .leavesNothing, .timeLimit(.minutes(10)))
struct CacheStoreLawTests {
    private let folder = TestFolder()

    private func store() -> DiskCacheStore { DiskCacheStore(folder.url.appendingPathComponent(UUID().uuidString)) }

    @Test("for the store on disk")
    func disk() async throws { try await assertCacheStoreLaws { store() } }

    @Test("for memory before it")
    func tiers() async throws { try await assertCacheStoreLaws { TieredStore(MemoryCacheStore(), store()) } }
}
