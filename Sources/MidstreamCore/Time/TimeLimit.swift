internal import Interception

/// A bound on how long a piece of work may take.
package struct TimeLimit: Sendable {
    private let duration: Duration?
    private let clock: any Clock<Duration>

    /// - Parameter duration: nil: no limit. Zero or less fails immediately.
    package init(_ duration: Duration?, on clock: any Clock<Duration>) {
        self.duration = duration
        self.clock = clock
    }

    /// Runs `work`; when the time is over, cancels it and throws the error of `error`.
    ///
    /// The work runs in a child task, so that any wait in it is interrupted.
    ///
    /// - Parameter onLate: Given the error before work that is still waited for is cancelled.
    package func run<Value: Sendable>(
        error: @escaping @Sendable (Duration) -> HTTPError, _ work: @escaping @Sendable () async throws -> Value,
        onLate: @escaping @Sendable (HTTPError) -> Void = { _ in }
    ) async throws -> Value {
        guard let duration else { return try await work() }
        guard duration > .zero else { throw error(duration) }
        let ending = await TimedWork.run(until: duration, of: Stopwatch(on: clock), work, onLate: { onLate(error(duration)) })
        guard !ending.isLate else { throw error(duration) }
        return try ending.result.get()
    }

    /// The same for work whose result would be lost for good: what it returns too late, or to a caller that was cancelled, counts as well.
    package func obtain<Value: Sendable>(
        error late: @escaping @Sendable (Duration) -> HTTPError, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let obtained = Locked<Value?>(nil)
        do {
            return try await run(error: late) {
                let value = try await work()
                obtained.withLock { $0 = value }
                return value
            }
        } catch {
            guard let value = obtained.withLock({ $0 }) else { throw error }
            return value
        }
    }
}
