import MidstreamCache
import MidstreamCore
import TestSupport
import Testing

@Suite("HEAD and what is stored for GET", .leavesNothing, .timeLimit(.minutes(10)))
struct HeadTests {
    @Test("a validation behind the answer to a HEAD asks for the body, too")
    func validatedBehindHead() async throws {
        let bench = CacheBench { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=10, stale-while-revalidate=60"],
                body: request.method == .head ? .empty : .text("one"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        let head = try await bench.get { $0.method = .head }
        #expect(head.isHit && head.cacheStatus?.ttl == -10)
        await eventually { bench.cache.statistics.stored == 2 }
        let later = try await bench.get()
        #expect(later.isHit && later.text == "one" && bench.sent == 2)
    }
}
