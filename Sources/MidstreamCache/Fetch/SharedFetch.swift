internal import Interception
internal import MidstreamCore

/// A response that may answer other requests than its own.
struct SharedResponse: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        case arriving(SharedBody)
    }

    let head: StoredHead
    let body: Body

    var isArriving: Bool { if case .arriving = body { true } else { false } }
}

/// One fetch for all who miss the same key at the same time: a request of one of them, and another one each time that the patience of those
/// who wait has ended. The first response that may be shared answers all.
///
/// Each request runs in a task of its own, so that cancelling its caller doesn't cancel it for the others. The task begins in the caller's
/// thread; where it ends there, too, nobody waits or is woken. Requests are cancelled when nobody waits any more.
final class SharedFetch: TimerListener {
    /// The response to a request, and the part of it that others may have.
    struct Outcome: Sendable {
        var response: HTTPResponse
        var shared: SharedResponse?
    }

    /// What a caller gets.
    enum Share: Sendable {
        /// The response to its own request.
        case own(HTTPResponse)
        case shared(StoredHead, HTTPBody)
        /// It sends a request for itself.
        case nothing
    }

    /// How a wait for another's request ends.
    enum Ending: Sendable {
        case share(Share)
        /// The patience is over: the caller sends a request for all.
        case leads
        /// The caller's own time is over.
        case isLate
    }

    private typealias Wait = Suspension<Result<Ending, any Error>>

    private struct Waiter {
        let ticket: Int
        /// nil until the caller waits, which it needn't if its own request ends at once.
        var wait: Wait?
        /// What came before it waited.
        var early: Result<Ending, any Error>?
    }

    private struct Attempt {
        /// That of its caller.
        let ticket: Int
        /// nil until it has begun.
        var task: Task<Void, Never>?
    }

    private struct State {
        var nextTicket = 0
        /// In the order in which they came.
        var waiters = ShortList<Waiter>()
        var attempts = ShortList<Attempt>()
        /// Runs while somebody waits for another's request.
        var timer: (on: ClockTimer, patience: Duration, entry: ClockTimer.Entry)?
        var landed: SharedResponse?
        var isOver = false

        mutating func enter(_ wait: Wait?) -> Int {
            nextTicket += 1
            waiters.append(Waiter(ticket: nextTicket, wait: wait))
            return nextTicket
        }

        mutating func takeWaiter(_ ticket: Int) -> Waiter? {
            defer { waiters.removeAll { $0.ticket == ticket } }
            return waiters.first { $0.ticket == ticket }
        }

        /// Ends an attempt. Returns the wait of its caller; one that doesn't wait yet finds the result when it does.
        mutating func finish(_ ticket: Int, _ result: Result<Ending, any Error>) -> Wait? {
            attempts.removeAll { $0.ticket == ticket }
            guard let place = waiters.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            guard let wait = waiters[place].wait else {
                waiters[place].early = result
                return nil
            }
            waiters.removeAll { $0.ticket == ticket }
            return wait
        }

        /// Those who wait for the request of another.
        mutating func takeFollowers() -> [Wait] {
            let followers = waiters.filter(isFollower)
            guard !followers.isEmpty else { return [] }
            waiters = ShortList(waiters.filter { !isFollower($0) })
            return followers.compactMap(\.wait)
        }

        func isFollower(_ waiter: Waiter) -> Bool {
            waiter.early == nil && !attempts.contains { $0.ticket == waiter.ticket }
        }

        mutating func takeTimer() -> ClockTimer.Entry? {
            defer { timer = nil }
            return timer?.entry
        }
    }

    let key: CacheKey
    /// Holds until something is removed that concerns the key.
    let permit: CacheRemovals.Permit
    private let table: CollapsedRequests
    private let state = Locked(State())

    init(_ key: CacheKey, _ permit: CacheRemovals.Permit, in table: CollapsedRequests) {
        self.key = key
        self.permit = permit
        self.table = table
    }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Sends a request for all, and waits for the first response.
    nonisolated(nonsending) func lead(_ send: @escaping @Sendable () async throws -> Outcome) async throws -> Share {
        guard let ticket = begin(send), let turn = turn(of: ticket) else { return takeShare() }
        let ending =
            switch turn {
            case .early(let result): try result.get()
            case .waits(let wait): try await end(of: wait, ticket, within: nil, on: .system)
            }
        guard case .share(let share) = ending else { return .nothing }
        return share
    }

    private enum Turn {
        case early(Result<Ending, any Error>)
        case waits(Wait)
    }

    /// The result of the caller's own request if it is there already, or the wait for it; nil: another's was first.
    private func turn(of ticket: Int) -> Turn? {
        state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            if let result = state.waiters[place].early {
                state.waiters.removeAll { $0.ticket == ticket }
                return .early(result)
            }
            let wait = Wait()
            state.waiters[place].wait = wait
            return .waits(wait)
        }
    }

    /// - Returns: The caller's ticket; nil: the fetch is over.
    private func begin(_ send: @escaping @Sendable () async throws -> Outcome) -> Int? {
        let entered = state.withLock { state -> Int? in
            if state.isOver { return nil }
            let ticket = state.enter(nil)
            state.attempts.append(Attempt(ticket: ticket))
            return ticket
        }
        guard let ticket = entered else { return nil }
        let task = CallersExecutor().startAtOnce {
            do {
                self.land(try await send(), of: ticket)
            } catch {
                self.fail(error, of: ticket)
            }
        }
        let isUnderWay = state.withLock { state in
            guard let place = state.attempts.firstIndex(where: { $0.ticket == ticket }) else { return false }
            state.attempts[place].task = task
            return true
        }
        if !isUnderWay { task.cancel() }
        return ticket
    }

    /// Waits for the request of another.
    ///
    /// - Parameters:
    ///   - patience: How long those who wait do so until one of them sends a request.
    ///   - timeLeft: How long the caller may wait; nil: without limit.
    nonisolated(nonsending) func join(
        for patience: Duration, timeLeft: Duration?, on clock: any Clock<Duration>
    ) async throws -> Ending {
        let wait = Wait()
        let timer = ClockTimer(clock)
        let entered = state.withLock { state -> Int? in
            if state.isOver { return nil }
            if state.timer == nil { state.timer = (timer, patience, timer.schedule(self, after: patience)) }
            return state.enter(wait)
        }
        guard let ticket = entered else { return .share(takeShare()) }
        return try await end(of: wait, ticket, within: timeLeft, on: timer)
    }

    nonisolated(nonsending) private func end(
        of wait: Wait, _ ticket: Int, within limit: Duration?, on timer: ClockTimer
    ) async throws -> Ending {
        switch await wait.wait(for: limit, on: timer) {
        case .value(let result): return try result.get()
        case .timedOut:
            await leave(ticket)
            return .isLate
        case .cancelled:
            await leave(ticket)
            throw CancellationError()
        }
    }

    /// The last who leaves cancels the requests, and waits for their end.
    nonisolated(nonsending) private func leave(_ ticket: Int) async {
        let (tasks, timer) = state.withLock { state -> ([Task<Void, Never>], ClockTimer.Entry?) in
            _ = state.takeWaiter(ticket)
            guard state.waiters.isEmpty else { return ([], nil) }
            return (state.attempts.compactMap(\.task), state.takeTimer())
        }
        timer?.cancel()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// The patience of those who wait is over: the one who has waited for longest sends another request, and the others wait for that, too.
    func timerFired() {
        while true {
            let chosen = state.withLock { state -> Wait? in
                guard let (timer, patience, _) = state.timer else { return nil }
                state.timer = nil
                let followers = state.waiters.filter(state.isFollower)
                guard let first = followers.first else { return nil }
                if followers.count > 1 { state.timer = (timer, patience, timer.schedule(self, after: patience)) }
                return state.takeWaiter(first.ticket)?.wait
            }
            guard let chosen, !chosen.resume(.success(.leads)) else { return }
        }
    }

    private func land(_ outcome: Outcome, of ticket: Int) {
        let (isLeft, leader, followers, others, timer) = state.withLock { state in
            let isLeft = !state.waiters.contains { $0.ticket == ticket }
            let leader = state.finish(ticket, .success(.share(.own(outcome.response))))
            var others = ShortList<Attempt>()
            if !state.isOver, let shared = outcome.shared {
                state.landed = shared
                (others, state.attempts) = (state.attempts, ShortList())
            }
            state.isOver = true
            return (isLeft, leader, state.takeFollowers(), others, state.takeTimer())
        }
        timer?.cancel()
        table.answered(self, outcome.shared)
        if isLeft || leader?.resume(.success(.share(.own(outcome.response)))) == false { outcome.response.body.close() }
        for follower in followers { hand(takeShare(), to: follower) }
        for attempt in others { attempt.task?.cancel() }
    }

    private func fail(_ error: any Error, of ticket: Int) {
        let (leader, followers, isOver, timer) = state.withLock { state in
            let leader = state.finish(ticket, .failure(error))
            guard state.attempts.isEmpty, !state.isOver else { return (leader, [Wait](), false, nil as ClockTimer.Entry?) }
            state.isOver = true
            return (leader, state.takeFollowers(), true, state.takeTimer())
        }
        timer?.cancel()
        if isOver { table.close(self) }
        leader?.resume(.failure(error))
        for follower in followers { follower.resume(.failure(error)) }
    }

    private func hand(_ share: Share, to wait: Wait) {
        if !wait.resume(.success(.share(share))), case .shared(_, let body) = share { body.close() }
    }

    /// A share of the response that has come.
    private func takeShare() -> Share {
        guard let landed = state.withLock({ $0.landed }) else { return .nothing }
        switch landed.body {
        case .bytes(let bytes): return .shared(landed.head, .bytes(bytes))
        case .arriving(let body):
            return body.join().map { .shared(landed.head, .incoming($0, length: body.length)) } ?? .nothing
        }
    }
}
