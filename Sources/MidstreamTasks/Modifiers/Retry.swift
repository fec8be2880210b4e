public import MidstreamCore

extension Modifiers {
    /// Asks the task again when it fails or its result is rejected.
    ///
    /// It repeats everything before it. To repeat only the request, as the client's validators see fit and with `Retry-After`
    /// honoured, use ``DataTask/retries(_:)``.
    public struct Retry<Element: Sendable>: RequestTaskModifier {
        private let limit: Int
        private let delay: @Sendable (_ retry: Int) -> Duration
        private let clock: any Clock<Duration>
        private let condition: @Sendable (any Error) -> Bool

        /// Makes the modifier.
        ///
        /// - Parameters:
        ///   - limit: How many times at most; less than 1: none.
        ///   - delay: How long to wait before the retry of this number, 1 for the first; no time by default.
        ///   - clock: What the time is measured by; the system's by default.
        ///   - condition: Which errors are worth another try. By default those that may pass by themselves
        ///     (``HTTPError/isTransient``), of requests that may be sent twice. Never asked about a cancellation.
        public init(
            _ limit: Int, delay: @escaping @Sendable (_ retry: Int) -> Duration = { _ in .zero },
            clock: any Clock<Duration> = ContinuousClock(),
            when condition: @escaping @Sendable (any Error) -> Bool = { ($0 as? HTTPError)?.isTransient == true }
        ) {
            self.limit = limit
            self.delay = delay
            self.clock = clock
            self.condition = condition
        }

        /// Gives the first success, or the last result or error.
        ///
        /// - Throws: What the task throws at last; `CancellationError`, in a delay at once.
        public func body(_ task: AnyRequestTask<Element>) async throws -> Element {
            var retry = 1
            while true {
                do {
                    let result = try await task.result()
                    guard retry <= limit, let rejection = (result as? any Rejectable)?.rejection, condition(rejection) else {
                        return result
                    }
                } catch {
                    guard retry <= limit, !(error is CancellationError), condition(error) else { throw error }
                }
                let delay = delay(retry)
                if delay > .zero { try await clock.pause(for: delay) } else { try Task.checkCancellation() }
                retry += 1
            }
        }
    }
}

extension RequestTask {
    /// Asks the task again when it fails or its result is rejected.
    ///
    /// ```swift
    /// client.get("news").decode(News.self).retry(2, delay: { .seconds($0) })
    /// ```
    ///
    /// See ``Modifiers/Retry``.
    public func retry(
        _ limit: Int, delay: @escaping @Sendable (_ retry: Int) -> Duration = { _ in .zero },
        clock: any Clock<Duration> = ContinuousClock(),
        when condition: @escaping @Sendable (any Error) -> Bool = { ($0 as? HTTPError)?.isTransient == true }
    ) -> AnyRequestTask<Element> {
        modifier(Modifiers.Retry(limit, delay: delay, clock: clock, when: condition))
    }
}
