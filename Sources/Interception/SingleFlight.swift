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
/// The work runs in a task of its own, which has the priority, the executor and the task-local values of the caller that
/// started it. A caller that is cancelled leaves at once with `CancellationError`; the work goes on for the others. When all have left, it is
/// finished all the same or cancelled, as ``Abandoned`` says.
///
/// With a key, work of different keys runs side by side; without one (`Key` is `Never`) there is one piece of work.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct State {
        var nextTicket = 0
        /// Who waits for the work of each key that is running. No key stands for the work without one.
        var flights: [Key?: Flight] = [:]
    }

    private struct Flight {
        let number: Int
        var waiters: [Int: Waiter] = [:]
        var task: Task<Void, Never>?
    }

    /// What becomes of work for which nobody waits any more.
    public enum Abandoned: Sendable {
        /// It is finished, since it may be one that must not be broken off half-way, such as the exchange of a token that can be
        /// used once.
        case isFinished
        /// It is cancelled; whoever comes next starts it anew.
        case isCancelled
    }

    private enum Entry {
        case cancelled, waiting
    }

    private let abandoned: Abandoned
    private let state = Locked(State())

    /// Makes one with nothing running.
    ///
    /// - Parameter abandoned: What becomes of work for which nobody waits any more; it is finished by default.
    public init(abandoned: Abandoned = .isFinished) { self.abandoned = abandoned }

    /// The value of the work of a key: of that which is running, or else of `work`, which is then started.
    ///
    /// - Throws: What the work throws, to all who wait for it; `CancellationError` when the caller's task is cancelled, at once
    ///   and without effect on the work. A task that is cancelled already starts nothing.
    public func run(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await join(key, work)
    }

    /// How many callers are waiting for the work of a key; 0 when it isn't running.
    public func waiters(for key: Key) -> Int { count(key) }

    /// How many callers are waiting, for the work of any key.
    package var allWaiters: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    private func count(_ key: Key?) -> Int { state.withLock { $0.flights[key]?.waiters.count ?? 0 } }

    private func join(_ key: Key?, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        // What is only tried out mustn't be shared with those who mean it.
        if ChainPosition.current?.isRehearsal == true { return try await work() }
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                enter(waiter, ticket, key, work)
            }
        } onCancel: {
            leave(ticket, key)
        }
    }

    private func enter(_ waiter: Waiter, _ ticket: Int, _ key: Key?, _ work: @escaping @Sendable () async throws -> Value) {
        let entry: Entry = state.withLock { state in
            // Asked under the lock: a cancellation that comes later finds the waiter in the list.
            if Task.isCancelled { return .cancelled }
            let isFirst = state.flights[key] == nil
            state.flights[key, default: Flight(number: ticket)].waiters[ticket] = waiter
            // Made under the lock, so that whoever leaves finds it.
            if isFirst { state.flights[key]?.task = CallersExecutor().start { await self.fly(key, ticket, work) } }
            return .waiting
        }
        if case .cancelled = entry { waiter.resume(throwing: CancellationError()) }
    }

    private func leave(_ ticket: Int, _ key: Key?) {
        let (waiter, task): (Waiter?, Task<Void, Never>?) = state.withLock { state in
            // A ticket is used once, so this can't reach a waiter of later work with the same key.
            guard let waiter = state.flights[key]?.waiters.removeValue(forKey: ticket) else { return (nil, nil) }
            guard abandoned == .isCancelled, state.flights[key]?.waiters.isEmpty == true else { return (waiter, nil) }
            return (waiter, state.flights.removeValue(forKey: key)?.task)
        }
        task?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    private func fly(_ key: Key?, _ number: Int, _ work: @Sendable () async throws -> Value) async {
        let result: Result<Value, any Error>
        do {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        let waiters = state.withLock { state in
            // Abandoned work may end after other work with the same key has begun.
            state.flights[key]?.number == number ? state.flights.removeValue(forKey: key)?.waiters : nil
        }
        guard let waiters else { return }
        // In the order in which they came.
        for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) { waiter.resume(with: result) }
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
