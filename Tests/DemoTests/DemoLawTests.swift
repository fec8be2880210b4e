import MidstreamTesting
import Testing

@testable import Demo

/// Those who learn from the demo learn from interceptors that keep to the laws.
@Suite("The demo's interceptors keep to the laws", .timeLimit(.minutes(10)))
struct DemoLawTests {
    @Test func requestAndResponse() async throws {
        try await assertInterceptorLaws { RequestID() }
        try await assertInterceptorLaws { ServerTime() }
    }

    @Test func wireLog() async throws {
        try await assertInterceptorLaws { WireLog(write: { _ in }) }
    }
}
