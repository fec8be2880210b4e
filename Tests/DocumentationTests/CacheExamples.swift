import Foundation
import Midstream
import MidstreamDiskCache
import MidstreamTesting
import Testing

private enum Tenant: RequestContextKey {
    static let defaultValue = "public"
}

@Suite("Caching.md", .timeLimit(.minutes(10)))
struct CacheExamples {
    private let stub = StubTransport(status: .ok, headers: ["Cache-Control": "max-age=60"], body: .text("x"))

    @Test("A cache, and what it did")
    func usage() async throws {
        let cache = CacheInterceptor()
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            cache
        }
        let first = try await client.send(HTTPRequest("users"))
        let second = try await client.send(HTTPRequest("users"))
        #expect(first.cacheStatus?.isHit == false && second.cacheStatus?.isHit == true)

        await cache.remove("https://api.example.com/users")
        await cache.removeAll()
        let hits = cache.statistics.hits
        #expect(hits == 1)
        #expect(try await client.send(HTTPRequest("users")).cacheStatus?.isHit == false)
    }

    @Test("Who shares what")
    func partition() async throws {
        var options = CacheOptions()
        options.partition = { request in request.context[Tenant.self] }
        let cache = CacheInterceptor(options: options)
        let client = HTTPClient(transport: stub) { cache }
        for tenant in ["a", "b", "a"] {
            var request = HTTPRequest("http://h/")
            request.context[Tenant.self] = tenant
            _ = try await client.send(request)
        }
        #expect(stub.requests.count == 2)
    }

    @Test("A shared cache")
    func shared() async throws {
        var options = CacheOptions()
        options.targetedFields = ["CDN-Cache-Control"]
        let cache = CacheInterceptor(.shared, options: options)
        #expect("\(cache)" == "shared cache in memory")
    }

    @Test("What one request wants")
    func uses() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) { CacheInterceptor() }
        var request = HTTPRequest("users")
        request.cache = .reload  // or .noStore, .onlyIfCached, .ignoringFreshness
        for _ in 0..<2 { _ = try await client.send(request) }
        #expect(stub.requests.count == 2)
    }

    @Test("On disk")
    func disk() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = DiskCacheStore(folder, maximumBytes: 1 << 30)
        let cache = CacheInterceptor(store: TieredStore(MemoryCacheStore(), disk))
        let client = HTTPClient(transport: stub) { cache }
        for _ in 0..<2 { _ = try await client.send(HTTPRequest("http://h/")) }
        #expect(stub.requests.count == 1)
    }

    @Test("What is seen of it")
    func visibility() async throws {
        let client = HTTPClient(transport: stub) { CacheInterceptor() }
        let first = try await client.send(HTTPRequest("http://h/"))
        #expect(first.trace.description.contains("nothing stored; stored, fresh for "))
        let response = try await client.send(HTTPRequest("http://h/"))
        #expect(response.trace.description.contains("answered from memory, fresh for "))
        #expect("\(try await client.explain(HTTPRequest("http://h/")))".contains("s, would answer from memory"))
        if let status = response.cacheStatus {
            print(status.isHit, status.forward?.rawValue ?? "", status.ttl ?? 0)
        }
    }
}
