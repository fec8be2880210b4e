import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

/// What `midst` puts into its pipeline keeps to the laws that others are checked by.
@Suite("The tool's interceptors keep to the laws", .leavesNothing, .timeLimit(.minutes(10)))
struct ToolLawTests {
    @Test func times() async throws {
        try await assertInterceptorLaws { BodyTimeout() }
        try await assertInterceptorLaws { WireTimes() }
    }

    @Test func wireLog() async throws {
        try await assertInterceptorLaws { WireLog(print: { _ in }) }
    }
}
