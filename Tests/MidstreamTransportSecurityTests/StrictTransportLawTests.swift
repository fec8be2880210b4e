import MidstreamTesting
import MidstreamTransportSecurity
import TestSupport
import Testing

@Suite("The laws of interceptors hold for strict transport", .leavesNothing, .timeLimit(.minutes(10)))
struct StrictTransportLawTests {
    @Test func strictTransport() async throws {
        try await assertInterceptorLaws { StrictTransport() }
        let store = StrictTransportStore([StrictTransportHost("laws.test", includesSubdomains: true)])
        try await assertInterceptorLaws { StrictTransport(store: store) }
    }
}
