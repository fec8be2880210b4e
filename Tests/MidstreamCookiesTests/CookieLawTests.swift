import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCookies

@Suite("The laws of interceptors hold for cookies", .leavesNothing, .timeLimit(.minutes(10)))
struct CookieLawTests {
    @Test func cookies() async throws {
        try await assertInterceptorLaws { CookieInterceptor() }
        let cookie = try Cookie("sid", "1", domain: "laws.test")
        try await assertInterceptorLaws { CookieInterceptor(CookieJar([cookie])) }
    }
}
