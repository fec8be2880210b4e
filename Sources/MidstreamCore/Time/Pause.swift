internal import Interception

extension Clock where Duration == Swift.Duration {
    /// Waits; ends early with `CancellationError` when the task is cancelled.
    package func pause(for duration: Duration) async throws { try await ClockTimer(self).sleep(for: duration) }
}
