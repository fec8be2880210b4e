import MidstreamCore
@testable import MidstreamTesting
import TestSupport
import Testing

@Suite("The laws of interceptors hold for testing", .leavesNothing, .timeLimit(.minutes(10)))
struct TestingLawTests {
    @Test func chaos() async throws {
        try await assertInterceptorLaws { Chaos(rules: [.init(.status(503))]) }
        try await assertInterceptorLaws { Chaos(rules: [.init(.delay(.constant(.zero)))], isEnabled: true) }
        // It is there to break the others.
        try await assertInterceptorLaws([.passesCancellation, .closesWhatItKeepsBack, .passesErrors]) {
            Chaos(rules: [.init(.disconnect(.insideBody(afterBytes: 10)))], isEnabled: true)
        }
    }

    @Test func cancellationWitness() async throws {
        try await assertInterceptorLaws { CancellationWitness(stage: .attempt) }
    }
}
