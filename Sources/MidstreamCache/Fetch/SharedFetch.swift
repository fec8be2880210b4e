internal import Interception
internal import MidstreamCacheStore
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

    /// How a caller's wait ends.
    enum Ending: Sendable {
        /// With the response to its own request.
        case own(HTTPResponse)
        /// With a share of what may be another's response.
        case shared(StoredHead, HTTPBody)
        /// It sends a request for itself.
        case nothing
        /// The patience for another's request is over: it sends one for all.
        case leads
        /// Its own time is over.
        case isLate
    }

    private typealias Wait = Suspension<Result<Ending, any Error>>

    private struct Attempt {
        /// Its caller's.
        let wait: Wait
        /// Whether the caller has left.
        var isLeft = false
        /// nil until it has begun.
        var task: Task<Void, Never>?
    }

    private struct State {
        var attempts = ShortList<Attempt>()
        /// Those who wait for the request of another, in the order in which they came.
        var followers: [Wait] = []
        /// Runs while there are followers.
        var timer: (on: ClockTimer, patience: Duration, entry: ClockTimer.Entry)?
        var landed: SharedResponse?
        /// The fields as they came, which nobody has seen: the caller whose request was answered had left.
        var news: HTTPHeaders?
        var isOver = false

        /// Ends an attempt. Returns the wait of its caller; nil: that has left, or another's response has answered it.
        mutating func takeAttempt(of wait: Wait) -> Wait? {
            let attempt = attempts.first { $0.wait == wait }
            attempts.removeAll { $0.wait == wait }
            return attempt?.isLeft == false ? wait : nil
        }

        mutating func takeFollowers() -> [Wait] {
            defer { followers = [] }
            return followers
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
    var waiting: Int { state.withLock { $0.followers.count + $0.attempts.count { !$0.isLeft } } }

    /// Sends a request for all, and waits for the first response.
    nonisolated(nonsending) func lead(_ send: @escaping @Sendable () async throws -> Outcome) async throws -> Ending {
        let wait = Wait()
        guard begin(send, wait) else { return takeShare() }
        if let result = wait.takeNow() { return try result.get() }
        return try await end(of: wait, within: nil, on: .system)
    }

    /// - Returns: False: the fetch is over.
    private func begin(_ send: @escaping @Sendable () async throws -> Outcome, _ wait: Wait) -> Bool {
        let isOver = state.withLock { state in
            if !state.isOver { state.attempts.append(Attempt(wait: wait)) }
            return state.isOver
        }
        if isOver { return false }
        let task = CallersExecutor().startAtOnce {
            do {
                self.land(try await send(), of: wait)
            } catch {
                self.fail(error, of: wait)
            }
        }
        let isUnderWay = state.withLock { state in
            guard let place = state.attempts.firstIndex(where: { $0.wait == wait }) else { return false }
            state.attempts[place].task = task
            return true
        }
        if !isUnderWay { task.cancel() }
        return true
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
        let isOver = state.withLock { state in
            if state.isOver { return true }
            if state.timer == nil { state.timer = (timer, patience, timer.schedule(self, after: patience)) }
            state.followers.append(wait)
            return false
        }
        if isOver { return takeShare() }
        return try await end(of: wait, within: timeLeft, on: timer)
    }

    nonisolated(nonsending) private func end(
        of wait: Wait, within limit: Duration?, on timer: ClockTimer
    ) async throws -> Ending {
        switch await wait.wait(for: limit, on: timer) {
        case .value(let result): return try result.get()
        case .timedOut:
            await leave(wait)
            return .isLate
        case .cancelled:
            await leave(wait)
            throw CancellationError()
        }
    }

    /// The last who leaves cancels the requests, and waits for their end. Whoever comes meanwhile begins another fetch.
    nonisolated(nonsending) private func leave(_ wait: Wait) async {
        let (tasks, timer, isAbandoned) = state.withLock { state -> ([Task<Void, Never>], ClockTimer.Entry?, Bool) in
            if let place = state.followers.firstIndex(of: wait) { state.followers.remove(at: place) }
            if let place = state.attempts.firstIndex(where: { $0.wait == wait }) { state.attempts[place].isLeft = true }
            guard state.followers.isEmpty, state.attempts.allSatisfy(\.isLeft) else { return ([], nil, false) }
            defer { state.isOver = true }
            return (state.attempts.compactMap(\.task), state.timer.take()?.entry, !state.isOver)
        }
        timer?.cancel()
        if isAbandoned { table.close(self) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// The patience of those who wait is over.
    func timerFired() { sendAnother() }

    /// The one who has waited for longest sends another request, and the others wait for that, too.
    private func sendAnother() {
        while true {
            let chosen = state.withLock { state -> Wait? in
                guard let (timer, patience, entry) = state.timer.take() else { return nil }
                entry.cancel()
                guard !state.followers.isEmpty else { return nil }
                let chosen = state.followers.removeFirst()
                if !state.followers.isEmpty { state.timer = (timer, patience, timer.schedule(self, after: patience)) }
                return chosen
            }
            guard let chosen, !chosen.resume(.success(.leads)) else { return }
        }
    }

    private func land(_ outcome: Outcome, of wait: Wait) {
        let (leader, followers, others, timer, answersAll) = state.withLock { state in
            let leader = state.takeAttempt(of: wait)
            var followers = state.takeFollowers()
            var others = ShortList<Attempt>()
            let answersAll = !state.isOver && outcome.shared != nil
            if answersAll, let shared = outcome.shared {
                state.landed = shared
                (others, state.attempts) = (state.attempts, ShortList())
                if !others.isEmpty { followers += others.filter { !$0.isLeft }.map(\.wait) }
            }
            state.isOver = true
            return (leader, followers, others, state.timer.take()?.entry, answersAll)
        }
        timer?.cancel()
        table.answered(self, outcome.shared)
        // Each of them reads the body by itself, which ends with its last reader.
        let shares = followers.map { _ in takeShare() }
        if leader?.resume(.success(.own(outcome.response))) != true {
            if answersAll { state.withLock { $0.news = outcome.response.receivedHeaders } }
            outcome.response.body.close()
        }
        for (follower, share) in zip(followers, shares) { hand(share, to: follower) }
        for attempt in others { attempt.task?.cancel() }
    }

    /// What a request fails with is so for all, unless it is about its caller alone: one of the others sends another one then, so that a quota
    /// that refuses them all is asked by one after the other.
    private func fail(_ error: any Error, of wait: Wait) {
        let isItsOwn = (error as? HTTPError)?.isItsOwn == true
        let (leader, followers, isOver, timer) = state.withLock { state in
            let leader = state.takeAttempt(of: wait)
            // nil: others decide.
            guard state.attempts.isEmpty, !state.isOver else { return (leader, [Wait](), nil as Bool?, nil as ClockTimer.Entry?) }
            if isItsOwn, !state.followers.isEmpty { return (leader, [], false, nil) }
            state.isOver = true
            return (leader, state.takeFollowers(), true, state.timer.take()?.entry)
        }
        timer?.cancel()
        if isOver == true { table.close(self) }
        leader?.resume(.failure(error))
        for follower in followers { follower.resume(.failure(error)) }
        if isOver == false { sendAnother() }
    }

    private func hand(_ share: Ending, to wait: Wait) {
        if !wait.resume(.success(share)), case .shared(_, let body) = share { body.close() }
    }

    /// The fields as they came, if nobody has seen them, for one whom the response answers.
    func takeNews() -> HTTPHeaders? { state.withLock { $0.news.take() } }

    /// A share of the response that has come; nothing when nobody else may have it.
    private func takeShare() -> Ending {
        guard let landed = state.withLock({ $0.landed }) else { return .nothing }
        switch landed.body {
        case .bytes(let bytes): return .shared(landed.head, .bytes(bytes))
        case .arriving(let body): return body.join().map { .shared(landed.head, $0) } ?? .nothing
        }
    }
}

extension HTTPError {
    /// Whether it is about the time, the limits, the priority, the request or the client of one caller, which others don't share.
    fileprivate var isItsOwn: Bool {
        isForGood
            || [
                .forbiddenDestination, .timeout, .deadlineExceeded, .bodyTooLarge, .overloaded, .rateLimited, .invalidRequest,
                .unsupported,
            ].contains(code)
    }
}
