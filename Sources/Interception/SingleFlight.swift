/// Runs work once for all simultaneous callers.
///
/// The first caller starts the work, later ones wait for it, and all get its value or error. Nothing is kept afterwards: the next caller starts
/// it anew.
///
/// ```swift
/// let refreshes = SingleFlight<Never, Token>()
/// let token = try await refreshes.run { try await fetchToken() }     // one fetch, however many callers
/// ```
///
/// The work runs in its own task with the priority, executor and task-local values of the first caller, and up to its first wait before that caller
/// waits. The deadline of a call that the first caller is part of doesn't bind the calls that the work makes with a client. A cancelled
/// caller leaves at once with `CancellationError`; the work goes on for the others. When all have left, it is finished or cancelled, by
/// ``init(cancelsAbandoned:)``.
///
/// With a key, work of different keys runs side by side; without one (`Key` is `Never`) there is one piece of work.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The value, and how many callers get it.
    @usableFromInline package typealias Landing = (value: Value, callers: Int)
    @usableFromInline typealias Waiter = Suspension<Result<Landing, any Error>>

    /// One run of the work.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because the variables are only touched while the lock of the `SingleFlight` is held.
    @usableFromInline
    final class Flight: @unchecked Sendable {
        /// Callers that haven't left, whether or not they wait already.
        @usableFromInline var callers = 0
        /// How many have come.
        @usableFromInline var arrivals = 0
        /// By the numbers of their arrivals: looking for one among thousands that leave would cost more than the wait.
        @usableFromInline var waiters: [Int: Waiter] = [:]
        @usableFromInline var hasLanded = false
        /// The latest time that any caller so far can wait until, whether or not it has left; the largest number: no limit.
        @usableFromInline var latest = Int64.min
        @usableFromInline var task: Task<Void, Never>?

        @inlinable init() {}
    }

    @usableFromInline let cancelsAbandoned: Bool
    /// The work of each key that is running. No key stands for the work without one.
    @usableFromInline let flights = Locked<[Key?: Flight]>([:])

    /// Makes one with nothing running.
    ///
    /// - Parameter cancelsAbandoned: Whether work is cancelled when all callers have left, so that the next caller starts it anew. False by
    ///   default: some work mustn't be broken off half-way, such as the exchange of a token that can be used once.
    public init(cancelsAbandoned: Bool = false) { self.cancelsAbandoned = cancelsAbandoned }

    /// The value of the work of a key: of that which is running, or else of `work`, which is then started.
    ///
    /// - Throws: What the work throws, to all who wait for it; `CancellationError` when the caller's task is cancelled, at once
    ///   and without effect on the work. A task that is cancelled already starts nothing.
    @inlinable
    public func run(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await shared(key, work).value
    }

    /// The latest time that any caller for the work of a key can wait until, those who have left included; nil when it isn't running.
    package func latest(for key: Key) -> Int64? { flights.withLock { $0[key]?.latest } }

    /// How many callers are waiting for the work of a key; 0 when it isn't running.
    public func waiters(for key: Key) -> Int { count(key) }

    /// How many callers are waiting, for the work of any key.
    package var allWaiters: Int { flights.withLock { $0.values.reduce(0) { $0 + $1.callers } } }

    private func count(_ key: Key?) -> Int { flights.withLock { $0[key]?.callers ?? 0 } }

    /// The value of the work of a key, or of that without one, and how many callers it is given to; see ``run(_:_:)``.
    ///
    /// Inlined into those who use it, with what it calls: a key and a value that aren't known would cost more than all the rest.
    ///
    /// - Parameter latest: Until when this caller has time, for work that asks (``latest(for:)``); the wait isn't ended then. The largest
    ///   number: no limit.
    @inlinable
    package func shared(
        _ key: Key?, until latest: Int64 = .max, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Landing {
        // What is only tried out mustn't be shared with those who mean it.
        if ChainPosition.local.get()?.isRehearsal == true { return (try await work(), 1) }
        try Task.checkCancellation()
        let waiter = Waiter()
        let (flight, number, isFirst) = flights.withLock { flights in
            let running = flights[key]
            let flight = running ?? Flight()
            flight.callers += 1
            flight.latest = max(flight.latest, latest)
            flight.arrivals += 1
            flight.waiters[flight.arrivals] = waiter
            if running == nil { flights[key] = flight }
            return (flight, flight.arrivals, running == nil)
        }
        if isFirst { begin(flight, key, work) }
        guard case .value(let landing) = await waiter.wait() else {
            leave(number, flight, key)?.cancel()
            throw CancellationError()
        }
        return try landing.get()
    }

    /// Starts the work, which is for all: the deadline of the first caller isn't the others'.
    @inlinable
    func begin(_ flight: Flight, _ key: Key?, _ work: @escaping @Sendable () async throws -> Value) {
        let position = ChainPosition.local.get()?.withoutDeadline
        let task = ChainPosition.local.withValue(position) {
            CallersExecutor().startAtOnce { await self.fly(flight, key, work) }
        }
        flights.withLock { _ in if !flight.hasLanded { flight.task = task } }
    }

    /// Takes one out; returns what is to be cancelled.
    @inlinable
    func leave(_ number: Int, _ flight: Flight, _ key: Key?) -> Task<Void, Never>? {
        flights.withLock { flights in
            flight.waiters[number] = nil
            flight.callers -= 1
            guard cancelsAbandoned, flight.callers == 0 else { return nil }
            if flights[key] === flight { flights[key] = nil }
            return flight.task
        }
    }

    @inlinable
    func fly(_ flight: Flight, _ key: Key?, _ work: @Sendable () async throws -> Value) async {
        let result = await Result<Value, any Error>.of(work)
        let (waiters, callers) = flights.withLock { flights in
            // Abandoned work may end after other work with the same key has begun.
            if flights[key] === flight { flights[key] = nil }
            flight.hasLanded = true
            flight.task = nil
            defer { flight.waiters = [:] }
            return (flight.waiters, flight.callers)
        }
        for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) { waiter.resume(result.map { ($0, callers) }) }
    }
}

extension SingleFlight where Key == Never {
    /// The value of the work: of that which is running, or else of `work`, which is then started.
    ///
    /// - Throws: What the work throws, to all who wait for it; `CancellationError` when the caller's task is cancelled, at once
    ///   and without effect on the work. A task that is cancelled already starts nothing.
    @inlinable
    public func run(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await shared(nil, work).value
    }

    /// How many callers are waiting; 0 when nothing is running.
    public var waiters: Int { count(nil) }
}
