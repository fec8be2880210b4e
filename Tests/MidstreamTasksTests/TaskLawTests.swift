import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTasks

@Suite("The laws of interceptors hold for tasks", .leavesNothing, .timeLimit(.minutes(10)))
struct TaskLawTests {
    @Test func credentialRemoval() async throws {
        try await assertInterceptorLaws { CredentialRemoval(of: HTTPClient.Configuration()) }
    }

    @Test func repetition() async throws {
        try await assertInterceptorLaws { RepetitionNote(repetition: Repetition(number: 2, limit: 3), retries: 1) }
    }

    @Test func progress() async throws {
        try await assertInterceptorLaws { TransferInterceptor(observer: TransferObserver(nil) { _ in }) }
    }
}
