import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("The laws of interceptors hold for resilience", .leavesNothing, .timeLimit(.minutes(10)))
struct ResilienceLawTests {
    @Test func concurrencyLimit() async throws {
        try await assertInterceptorLaws { ConcurrencyLimit(.fixed(200)) }
        try await assertInterceptorLaws { ConcurrencyLimit(.fixed(3), queue: 100) }
    }

    @Test func circuitBreaker() async throws { try await assertInterceptorLaws { CircuitBreaker() } }
}
