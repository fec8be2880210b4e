import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Explanations of what a cache would do", .leavesNothing, .timeLimit(.minutes(10)))
struct ExplanationTests {
    @Test("they end with the answer, or say what is missing")
    func explanations() async throws {
        let bench = CacheBench(answers: [(200, ["Cache-Control": "max-age=60", "ETag": "\"a\""], "one")])
        #expect("\(try await bench.client.explain(HTTPRequest(CacheBench.url)))".contains("nothing stored"))
        _ = try await bench.get()
        let explanation = try await bench.client.explain(HTTPRequest(CacheBench.url))
        #expect(explanation.answeredBy == "CacheInterceptor")
        #expect("\(explanation)".contains("fresh for 60 s, would answer from memory"))
        bench.clock.advance(61)
        let stale = try await bench.client.explain(HTTPRequest(CacheBench.url))
        #expect(stale.answeredBy == nil && stale.request.headers["If-None-Match"] == "\"a\"")
        var write = HTTPRequest(.post, CacheBench.url)
        write.cache = .onlyIfCached
        let refused = try await bench.client.explain(write)
        #expect(refused.answeredBy == "CacheInterceptor" && "\(refused)".contains("would answer 504"))
        #expect(bench.sent == 1)
    }

    @Test("they bear a clock that went back")
    func explanationBeforeItsTime() async throws {
        let bench = CacheBench(answers: [(200, ["Cache-Control": "max-age=60"], "one")])
        _ = try await bench.get()
        bench.clock.advance(-10)
        var request = HTTPRequest(CacheBench.url)
        request.cache = .ignoringFreshness
        #expect("\(try await bench.client.explain(request))".contains("stale for 2147483648 s, would answer from memory"))
    }
}
