internal import MidstreamCore

extension Modifiers {
    /// Gives up when everything before it takes too long.
    public struct Deadline<Element: Sendable>: RequestTaskModifier {
        private let duration: Duration
        private let clock: any Clock<Duration>

        /// Makes the modifier.
        ///
        /// - Parameters:
        ///   - duration: How long it may take; zero or less: it is over at once.
        ///   - clock: What the time is measured by; the system's by default.
        public init(_ duration: Duration, clock: any Clock<Duration> = ContinuousClock()) {
            self.duration = duration
            self.clock = clock
        }

        /// Gives the result. What is still running when the time is over is cancelled and waited for.
        ///
        /// - Throws: ``HTTPError/Code/deadlineExceeded``; what the task throws.
        public func body(_ task: AnyRequestTask<Element>) async throws -> Element {
            let limit = TimeLimit(duration, on: clock)
            return try await limit.run(error: { HTTPError(.deadlineExceeded, "The task took longer than \($0).") }) {
                try await task.result()
            }
        }
    }
}

extension RequestTask {
    /// Gives up with ``HTTPError/Code/deadlineExceeded`` when everything before it takes too long: retries, waits,
    /// refreshes and decoding included. For a limit on a single attempt use `timeout`. See ``Modifiers/Deadline``.
    public func deadline(_ duration: Duration, clock: any Clock<Duration> = ContinuousClock()) -> AnyRequestTask<Element> {
        modifier(Modifiers.Deadline(duration, clock: clock))
    }
}
