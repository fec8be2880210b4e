/// A bound on how long a piece of work may take.
struct TimeLimit: Sendable {
    private let duration: Duration?
    private let clock: any Clock<Duration>

    /// - Parameter duration: nil, zero or less: no limit.
    init(_ duration: Duration?, on clock: any Clock<Duration>) {
        self.duration = duration.flatMap { $0 > .zero ? $0 : nil }
        self.clock = clock
    }

    /// Runs `work` and, when the time is over, cancels it and throws what `error` makes.
    ///
    /// The work runs in a child task, so that whatever it waits for is interrupted, whoever wrote it.
    func run<Value: Sendable>(
        error: @escaping @Sendable (Duration) -> HTTPError, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let duration else { return try await work() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask { [clock] in
                try await clock.sleep(for: duration)
                return nil
            }
            // The first to end decides; the group then waits for the other, which is cancelled.
            defer { group.cancelAll() }
            if let first = try await group.next(), let value = first { return value }
            throw error(duration)
        }
    }
}

/// When an attempt has to be over, on the client's clock.
package struct AttemptEnd: Sendable {
    private let systemEnd: ContinuousClock.Instant?
    private let remainingOnOtherClock: (@Sendable () -> Duration)?
    package let clock: any Clock<Duration>
    /// How long the whole attempt may take.
    package let allowed: Duration

    init(in duration: Duration, on clock: any Clock<Duration>) {
        self.clock = clock
        allowed = duration
        if clock is ContinuousClock {
            systemEnd = .now + duration
            remainingOnOtherClock = nil
        } else {
            systemEnd = nil
            remainingOnOtherClock = Self.remaining(duration, on: clock)
        }
    }

    /// Whether the time is that of the system, which a transport can keep by itself.
    package var isOnSystemClock: Bool { systemEnd != nil }

    /// What is left; zero or less when the time is over.
    package var remaining: Duration {
        if let systemEnd { return ContinuousClock.now.duration(to: systemEnd) }
        return remainingOnOtherClock?() ?? .zero
    }

    private static func remaining<C: Clock<Duration>>(_ duration: Duration, on clock: C) -> @Sendable () -> Duration {
        let end = clock.now.advanced(by: duration)
        return { clock.now.duration(to: end) }
    }
}
