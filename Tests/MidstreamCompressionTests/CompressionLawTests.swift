import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCompression

@Suite("The laws of interceptors hold for compression", .leavesNothing, .timeLimit(.minutes(10)))
struct CompressionLawTests {
    /// The body of the request is there to be changed.
    @Test func requests() async throws {
        let request = HTTPRequest(.post, "http://laws.test/", body: .bytes([UInt8](repeating: 1, count: 10_000)))
        let laws = Set(InterceptorLaw.allCases).subtracting([.preservesBodies])
        try await assertInterceptorLaws(laws, request: request) { CompressRequests() }
        // What is short isn't touched.
        let short = HTTPRequest(.post, "http://laws.test/", body: .text("short"))
        try await assertInterceptorLaws(request: short) { CompressRequests() }
    }
}
