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
