import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("The laws of interceptors hold for the cache", .leavesNothing, .timeLimit(.minutes(10)))
struct CacheLawTests {
    @Test func cache() async throws {
        for mode in [CacheMode.private, .shared] { try await assertInterceptorLaws { CacheInterceptor(mode) } }
    }

    @Test("for what is stored, too")
    func stored() async throws {
        let laws: Set<InterceptorLaw> = [.preservesBodies, .passesCancellation, .passesErrors, .plansWhatItDoes]
        let request = HTTPRequest("http://laws.test/", headers: ["Cache-Control": "max-age=0"])
        try await assertInterceptorLaws(laws, request: request) { CacheInterceptor() }
    }
}
