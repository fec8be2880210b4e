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
        try await assertInterceptorLaws([.endsInTime]) { ConcurrencyLimit(.fixed(1), queue: 2) }
    }

    @Test func circuitBreaker() async throws { try await assertInterceptorLaws { CircuitBreaker() } }

    @Test func hedging() async throws {
        try await assertInterceptorLaws { Hedging() }
        try await assertInterceptorLaws(request: HTTPRequest("http://laws.test/", headers: ["Idempotency-Key": "1"])) {
            Hedging(delay: .zero, budget: 1, reserve: 1_000)
        }
    }

    @Test func rateLimit() async throws {
        try await assertInterceptorLaws { RateLimit(perSecond: 1_000_000) }
        try await assertInterceptorLaws([.endsInTime]) { RateLimit(perSecond: 0.01) }
    }

    @Test func coalescing() async throws {
        try await assertInterceptorLaws { Coalescing() }
        try await assertInterceptorLaws { Coalescing { _ in "me" } }
    }

    /// It is there to keep errors back.
    @Test func fallback() async throws {
        try await assertInterceptorLaws(Set(InterceptorLaw.allCases).subtracting([.passesErrors])) {
            Fallback { request, _ in HTTPResponse(status: 200, request: request) }
        }
    }

    @Test func deadlineHeader() async throws {
        try await assertInterceptorLaws { DeadlineHeader(seconds: "X-T", refusesHopeless: true) }
    }

    @Test func standard() async throws {
        try await assertInterceptorLaws {
            StandardLimits(maxRetries: 3, timeout: .seconds(3_600), deadline: .seconds(3_600))
        }
    }
}
