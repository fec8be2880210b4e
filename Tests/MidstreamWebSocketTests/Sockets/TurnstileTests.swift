import TestSupport
import Testing

@testable import MidstreamWebSocket

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct TurnstileTests {
    @Test func `Those who don't wait any more are let go of, though who is in doesn't leave`() async throws {
        let turnstile = Turnstile()
        try await turnstile.enter()
        let staying = Task { try await turnstile.enter() }
        await eventually { turnstile.lineLength == 1 }
        for _ in 0..<1_000 {
            let leaving = Task { try await turnstile.enter() }
            leaving.cancel()
            await #expect(throws: CancellationError.self) { try await leaving.value }
        }
        #expect(turnstile.lineLength <= 16)
        turnstile.leave()
        try await staying.value
    }
}
