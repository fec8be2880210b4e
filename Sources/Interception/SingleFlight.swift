/// Runs a piece of work once for all who ask for it at the same time.
///
/// The first caller starts the work; those who come while it runs wait for it; all get its value or its error. Nothing is kept
/// afterwards: the next caller starts it anew.
///
/// ```swift
/// let refreshes = SingleFlight<Never, Token>()
/// let token = try await refreshes.run { try await fetchToken() }     // one fetch, however many callers
/// ```
///
/// The work runs in a task of its own, which has the priority and the task-local values of the caller that started it. A
/// caller that is cancelled leaves at once with `CancellationError`; the work goes on for the others, and is finished even when
/// all have left, since it may be one that must not be broken off half-way, such as the exchange of a token that can be used
/// once.
///
/// With a key, work of different keys runs side by side; without one (`Key` is `Never`) there is one piece of work.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct State {
        var nextTicket = 0
        /// Who waits for the work of each key that is running. No key stands for the work without one.
        var flights: [Key?: [Int: Waiter]] = [:]
    }

    private enum Entry {
        case cancelled, waiting, first
    }

    private let state = Locked(State())

    /// Makes one with nothing running.
    public init() {}

    /// The value of the work of a key: of that which is running, or else of `work`, which is then started.
    ///
    /// - Throws: What the work throws, to all who wait for it; `CancellationError` when the caller's task is cancelled, at once
    ///   and without effect on the work. A task that is cancelled already starts nothing.
    public func run(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await join(key, work)
    }

    /// How many callers are waiting for the work of a key; 0 when it isn't running.
    public func waiters(for key: Key) -> Int { count(key) }

    private func count(_ key: Key?) -> Int { state.withLock { $0.flights[key]?.count ?? 0 } }

    private func join(_ key: Key?, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        if SoloFlight.isDue { return try await work() }
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                enter(waiter, ticket, key, work)
            }
        } onCancel: {
            // A ticket is used once, so this can't reach a waiter of later work with the same key.
            let waiter = state.withLock { $0.flights[key]?.removeValue(forKey: ticket) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func enter(_ waiter: Waiter, _ ticket: Int, _ key: Key?, _ work: @escaping @Sendable () async throws -> Value) {
        let entry: Entry = state.withLock { state in
            // Asked under the lock: a cancellation that comes later finds the waiter in the list.
            if Task.isCancelled { return .cancelled }
            let isFirst = state.flights[key] == nil
            state.flights[key, default: [:]][ticket] = waiter
            return isFirst ? .first : .waiting
        }
        switch entry {
        case .cancelled: waiter.resume(throwing: CancellationError())
        case .waiting: break
        case .first: Task { await self.fly(key, work) }
        }
    }

    private func fly(_ key: Key?, _ work: @Sendable () async throws -> Value) async {
        let result: Result<Value, any Error>
        do {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        let waiters = state.withLock { $0.flights.removeValue(forKey: key) }
        guard let waiters else { return }
        for waiter in waiters.values { waiter.resume(with: result) }
    }
}

extension SingleFlight where Key == Never {
    /// The value of the work: of that which is running, or else of `work`, which is then started.
    ///
    /// - Throws: What the work throws, to all who wait for it; `CancellationError` when the caller's task is cancelled, at once
    ///   and without effect on the work. A task that is cancelled already starts nothing.
    public func run(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await join(nil, work)
    }

    /// How many callers are waiting; 0 when nothing is running.
    public var waiters: Int { count(nil) }
}

/// Whether the present task's work is to be its own alone: neither started for others nor shared with them. So it is where work
/// is only tried out, since its outcome would be of no use to those who mean it.
package enum SoloFlight {
    @TaskLocal package static var isDue = false
}
