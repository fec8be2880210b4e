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
                if delay > .zero { try await clock.sleep(for: delay) } else { try Task.checkCancellation() }
                retry += 1
            }
        }
    }
}

extension HTTPError {
    /// Whether the failure may pass by itself and the request may be sent a second time.
    ///
    /// Such failures are a timeout, a connection that can't be made or breaks, a name that isn't found, and the statuses 408, 429,
    /// 502, 503 and 504. A request may be sent twice when it wasn't sent at all, its method is idempotent
    /// (RFC 9110 §9.2.2), it has an `Idempotency-Key`, or ``HTTPRequest/allowsUnsafeRetry`` says so.
    public var isTransient: Bool {
        switch code {
        case .timeout, .connection, .connectionLost, .nameResolution: break
        case .unacceptableStatus, .retriesExhausted:
            guard let status = response?.status, [408, 429, 502, 503, 504].contains(status) else { return false }
        default: return false
        }
        guard progress != .notSent else { return true }
        guard let request else { return false }
        return request.method.isIdempotent || request.headers.contains(.idempotencyKey) || request.allowsUnsafeRetry
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
