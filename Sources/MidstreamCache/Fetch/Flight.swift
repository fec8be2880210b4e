internal import Interception
internal import MidstreamCore

/// A response that may answer others than who asked for it.
struct SharedResponse: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        case arriving(SharedBody)
    }

    let head: StoredHead
    let body: Body

    var isArriving: Bool {
        switch body {
        case .bytes: false
        case .arriving: true
        }
    }
}

/// One fetch for all who miss the same key at the same time.
///
/// It runs in a task of its own, since the cancellation of a task can't be undone: in that of the caller who began it, it would end with that
/// caller. The task begins in the caller's thread, and where it comes to its end there, as it does when the caller drives the exchange, nobody
/// waits or is woken. It is cancelled when the last caller leaves before there is a head.
final class Flight: Sendable {
    /// What a fetch brings: the response of who leads it, and what others may have of it.
    struct Landing: Sendable {
        var response: HTTPResponse
        var shared: SharedResponse?
    }

    /// What somebody gets who waited.
    enum Share: Sendable {
        /// The response is the leader's.
        case own(HTTPResponse)
        /// The head, and a body to read.
        case shared(StoredHead, HTTPBody)
        /// Nothing; it may send its own request.
        case nothing
    }

    private typealias Waiter = UnsafeContinuation<Share, any Error>

    /// Where the caller is who began the fetch.
    private enum Leader {
        /// It hasn't asked for the head yet.
        case isBusy
        case waits(Waiter)
        /// The head came before it asked.
        case hasShare(Result<Share, any Error>)
        case isGone

        var isWaiting: Bool {
            switch self {
            case .isBusy, .waits: true
            case .hasShare, .isGone: false
            }
        }
    }

    private struct Waiting {
        let waiter: Waiter
        /// When it has waited for too long, on the stopwatch of who watches.
        let due: Duration
    }

    private struct State {
        var leader = Leader.isBusy
        var nextTicket = 0
        /// The others.
        var waiters: [Int: Waiting] = [:]
        /// Sends home who has waited for too long: one for all, since most don't wait long.
        var watch: (stopwatch: Stopwatch, task: Task<Void, Never>?)?
        var landed: SharedResponse?
        var isOver = false
        var task: Task<Void, Never>?

        /// Whether nobody waits for the head that hasn't come.
        var isAbandoned: Bool { !isOver && !leader.isWaiting && waiters.isEmpty }
    }

    /// What was removed since it began.
    let permit: CacheRemovals.Permit
    private let state = Locked(State())

    init(_ permit: CacheRemovals.Permit) { self.permit = permit }

    /// Leads the fetch: starts it, and waits as all others do. Called once.
    nonisolated(nonsending) func lead(_ fetch: @escaping @Sendable () async throws -> Landing) async throws -> Share {
        let task = CallersExecutor().startAtOnce {
            do {
                self.land(try await fetch())
            } catch {
                self.fail(error)
            }
        }
        if let share = takeShare(orWaitFor: task) { return try share.get() }
        return try await waitAsLeader()
    }

    @inline(never)
    private func takeShare(orWaitFor task: Task<Void, Never>) -> Result<Share, any Error>? {
        state.withLock { state in
            guard case .hasShare(let share) = state.leader else {
                state.task = task
                return nil
            }
            state.leader = .isGone
            return share
        }
    }

    @inline(never)
    nonisolated(nonsending) private func waitAsLeader() async throws -> Share {
        try await waitForHead { waiter, state in
            if case .hasShare(let share) = state.leader {
                state.leader = .isGone
                return share
            }
            if Task.isCancelled { return .failure(CancellationError()) }
            state.leader = .waits(waiter)
            return nil
        } onLeaving: { state in
            switch state.leader {
            // It is still to be taken.
            case .hasShare: return nil
            case .waits(let waiter):
                state.leader = .isGone
                return waiter
            case .isBusy, .isGone:
                state.leader = .isGone
                return nil
            }
        }
    }

    /// Takes part in what has come by now, without waiting; nil when nothing has.
    func joinAtOnce() -> Share? { state.withLock { $0.landed }.flatMap(Self.share) }

    /// Waits for what another one has asked for, or takes part in what is arriving; nil when it is over.
    ///
    /// - Parameter patience: How long it waits at most.
    /// - Throws: ``HTTPError/Code/timeout`` then.
    nonisolated(nonsending) func join(within patience: Duration, on clock: any Clock<Duration>) async throws -> Share? {
        let (ticket, isOver, landed) = state.withLock { state in
            state.nextTicket += 1
            return (state.nextTicket, state.isOver, state.landed)
        }
        if isOver { return landed.flatMap(Self.share) }
        return try await waitForHead { waiter, state in
            if Task.isCancelled { return .failure(CancellationError()) }
            if state.isOver { return .success(state.landed.flatMap(Self.share) ?? .nothing) }
            let stopwatch = state.watch?.stopwatch ?? Stopwatch(on: clock)
            state.waiters[ticket] = Waiting(waiter: waiter, due: stopwatch.elapsed + patience)
            if state.watch == nil {
                state.watch = (stopwatch, CallersExecutor().startDetached { await self.watch(stopwatch) })
            }
            return nil
        } onLeaving: { state in
            state.waiters.removeValue(forKey: ticket)?.waiter
        }
    }

    /// Sends home who has waited for too long, until nobody waits.
    private func watch(_ stopwatch: Stopwatch) async {
        while true {
            let (late, rest) = state.withLock { state -> ([Waiter], Duration?) in
                let now = stopwatch.elapsed
                let late = state.waiters.filter { $0.value.due <= now }
                for ticket in late.keys { state.waiters[ticket] = nil }
                let next = state.waiters.values.map(\.due).min()
                // Who joins from here on has another one.
                if next == nil { state.watch = nil }
                return (late.values.map(\.waiter), next.map { $0 - now })
            }
            for waiter in late { waiter.resume(throwing: HTTPError.timedOut()) }
            guard let rest else { return }
            do { try await stopwatch.clock.pause(for: rest) } catch { return }
        }
    }

    /// How many wait for the head.
    var waiting: Int { state.withLock { $0.waiters.count + ($0.leader.isWaiting ? 1 : 0) } }

    /// - Parameters:
    ///   - enter: Gives what there is by now; nil: it has entered the waiter.
    ///   - leave: Takes the waiter out.
    nonisolated(nonsending) private func waitForHead(
        _ enter: (Waiter, inout State) -> Result<Share, any Error>?, onLeaving leave: @escaping @Sendable (inout State) -> Waiter?
    ) async throws -> Share {
        try await withTaskCancellationHandler {
            do {
                return try await withUnsafeThrowingContinuation { waiter in
                    let share = state.withLock { enter(waiter, &$0) }
                    if let share { waiter.resume(with: share) }
                }
            } catch let error as CancellationError {
                // Who leaves last sees to it that nothing goes on behind their back.
                if let task = left(leave) { await task.value }
                throw error
            }
        } onCancel: {
            let (waiter, task) = state.withLock { state in
                let waiter = leave(&state)
                return (waiter, state.isAbandoned ? state.task : nil)
            }
            task?.cancel()
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// Notes that somebody is gone who may have left before it waited. Returns the fetch that nobody waits for any more.
    private func left(_ leave: (inout State) -> Waiter?) -> Task<Void, Never>? {
        let (task, isAbandoned) = state.withLock { state in
            _ = leave(&state)
            let isUnwanted = state.landed == nil && !state.leader.isWaiting && state.waiters.isEmpty
            return (isUnwanted ? state.task : nil, state.isAbandoned)
        }
        if isAbandoned { task?.cancel() }
        return task
    }

    private func land(_ landing: Landing) {
        let (leader, waiters) = close(landed: landing.shared, .success(.own(landing.response)))
        switch leader {
        case .waits(let waiter): waiter.resume(returning: .own(landing.response))
        case .isGone: landing.response.body.close()
        case .isBusy, .hasShare: break
        }
        for waiter in waiters { waiter.resume(returning: landing.shared.flatMap(Self.share) ?? .nothing) }
    }

    private func fail(_ error: any Error) {
        let (leader, waiters) = close(landed: nil, .failure(error))
        if case .waits(let waiter) = leader { waiter.resume(throwing: error) }
        for waiter in waiters { waiter.resume(throwing: error) }
    }

    /// Ends the wait. Returns where the leader was, and who else waited; one that hasn't asked yet finds its share when it does.
    private func close(landed: SharedResponse?, _ share: Result<Share, any Error>) -> (Leader, [Waiter]) {
        let (leader, waiters, watch) = state.withLock { state in
            let (leader, waiters, watch) = (state.leader, state.waiters, state.watch?.task)
            state.isOver = true
            state.landed = landed
            state.task = nil
            state.waiters = [:]
            state.watch = nil
            if case .isBusy = leader { state.leader = .hasShare(share) } else { state.leader = .isGone }
            return (leader, waiters, watch)
        }
        watch?.cancel()
        return (leader, waiters.isEmpty ? [] : waiters.values.map(\.waiter))
    }

    private static func share(_ shared: SharedResponse) -> Share? {
        switch shared.body {
        case .bytes(let bytes): .shared(shared.head, .bytes(bytes))
        case .arriving(let body): body.join().map { .shared(shared.head, .incoming($0, length: body.length)) }
        }
    }
}
