extension Modifiers {
    /// Gives up when everything before it takes too long.
    public struct Timeout<Element: Sendable>: RequestTaskModifier {
        private let duration: Duration
        private let clock: any Clock<Duration>

        /// Makes the modifier.
        ///
        /// - Parameters:
        ///   - duration: How long it may take; zero or less: no limit.
        ///   - clock: What the time is measured by; the system's by default.
        public init(_ duration: Duration, clock: any Clock<Duration> = ContinuousClock()) {
            self.duration = duration
            self.clock = clock
        }

        /// Gives the result. What is still running when the time is over is cancelled and waited for.
        ///
        /// - Throws: ``HTTPError/Code/timeout``; what the task throws.
        public func body(_ task: AnyRequestTask<Element>) async throws -> Element {
            let limit = TimeLimit(duration, on: clock)
            return try await limit.run(error: { HTTPError(.timeout, "The task took longer than \($0).") }) {
                try await task.result()
            }
        }
    }
}

extension RequestTask {
    /// Gives up with ``HTTPError/Code/timeout`` when everything before it takes too long, retries, refreshes and decoding
    /// included. See ``Modifiers/Timeout``.
    ///
    /// On a ``DataTask`` itself, `timeout` sets the limit of one attempt.
    public func timeout(_ duration: Duration, clock: any Clock<Duration> = ContinuousClock()) -> AnyRequestTask<Element> {
        modifier(Modifiers.Timeout(duration, clock: clock))
    }
}
