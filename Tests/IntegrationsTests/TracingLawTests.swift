import Midstream
import MidstreamTesting

/// The laws of interceptors hold for the example.
func tracingLaws() async throws {
    try await assertInterceptorLaws { TracingInterceptor() }
}
