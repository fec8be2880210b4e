public import MidstreamCore

extension RetryStrategy {
    /// As soon as the machine has a network, for failures to reach a server at all:
    ///
    /// ```swift
    /// var errors = DefaultValidator.usualErrors
    /// errors[.connection] = .whenOnline()
    /// errors[.nameResolution] = .whenOnline()
    /// configuration.validators = [DefaultValidator(retriableErrors: errors)]
    /// ```
    ///
    /// When the limit is over, the retry is made all the same, and fails by itself if there is still no network. When there is one
    /// already, or nobody can tell, the retry is made after half a second to a second, by chance: the fault lies elsewhere. The trace tells of
    /// the wait. It is that of ``afterTask(delay:_:onError:)``, whose rules hold: it counts as one of the request's `maxRetries`, one is
    /// made even where that is 0, and the deadline and the cancellation of the task end it.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most; 60 s by default. With zero or less the retry is made at once.
    ///   - status: Tells whether there is a network; the system by default.
    ///   - clock: Measures the wait; the system's by default.
    public static func whenOnline(
        within limit: Duration = .seconds(60), status: any NetworkStatus = SystemNetworkStatus(),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> RetryStrategy {
        let wait = OnlineWait(limit: max(.zero, limit), status: status, clock: clock)
        return .afterTask { try await wait.run(before: $0) }
    }
}

private struct OnlineWait: Sendable {
    let limit: Duration
    let status: any NetworkStatus
    let clock: any Clock<Duration>

    /// - Throws: `CancellationError`.
    func run(before retry: HTTPRequest) async throws {
        if await status.isOnline { return try await pause() }
        retry.note("no network; waits for one, \(limit) at most")
        do {
            let isBack = try await comesOnline()
            retry.note(isBack ? "the network is back" : "still no network")
        } catch {
            try Task.checkCancellation()
            retry.note("nobody can tell of the network: \(error)")
            try await pause()
        }
    }

    private func pause() async throws { try await clock.pause(for: min(limit, .seconds(Double.random(in: 0.5...1)))) }

    /// False when the limit is over before there is a network.
    private func comesOnline() async throws -> Bool {
        let ending = await TimedWork.run(until: limit, of: Stopwatch(on: clock)) { try await status.waitUntilOnline() }
        if !ending.isLate { try ending.result.get() }
        return !ending.isLate
    }
}
