import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamWebSocket

/// What a socket puts into its client's pipeline keeps to the laws that others are checked by.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct WebSocketLawTests {
    @Test func keys() async throws { try await assertInterceptorLaws { ConnectionKey() } }
}
