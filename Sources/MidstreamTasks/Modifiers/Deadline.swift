internal import MidstreamCore

extension RequestTask {
    /// Gives up with ``HTTPError/Code/deadlineExceeded`` when everything before it takes too long: retries, waits,
    /// refreshes and decoding included. What is still running then is cancelled and waited for. For a limit on a single attempt use
    /// `timeout`.
    ///
    /// - Parameters:
    ///   - duration: How long it may take; zero or less fails immediately.
    ///   - clock: The clock of the limit; the system's by default.
    public func deadline(_ duration: Duration, clock: any Clock<Duration> = ContinuousClock()) -> AnyRequestTask<Element> {
        AnyRequestTask {
            let limit = TimeLimit(duration, on: clock)
            return try await limit.run(error: { HTTPError(.deadlineExceeded, "The task took longer than \($0).") }) {
                try await self.result()
            }
        }
    }
}
