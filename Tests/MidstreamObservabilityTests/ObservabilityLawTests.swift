import MidstreamCore
import MidstreamObservability
import MidstreamTesting
import TestSupport
import Testing

@Suite("The laws of interceptors hold for what is there to be seen", .leavesNothing, .timeLimit(.minutes(10)))
struct ObservabilityLawTests {
    @Test func logging() async throws {
        try await assertInterceptorLaws { LoggingInterceptor { _ in } }
        try await assertInterceptorLaws { LoggingInterceptor(at: .exchange) { _ in } }
    }

    @Test func traceParent() async throws {
        try await assertInterceptorLaws { TraceParentInterceptor() }
    }
}
