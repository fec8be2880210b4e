internal import Interception
internal import MidstreamCore

/// What hears of a link.
protocol RedisListener: AnyObject, Sendable {
    /// A message has come.
    ///
    /// - Parameter content: nil: what stands for all keys.
    func hear(_ channel: String, _ content: [String]?)
    /// Redis has begun or ceased to answer.
    func changed(isConnected: Bool)
}

/// The way to Redis, which is never in the way: whoever asks waits for at most the patience, and not at all while Redis doesn't answer. Only
/// what is decisive waits for the first connection as long as that may take to be made.
///
/// After a failure Redis is asked for a sign of life in the background. When that doesn't come, or after five failures in a row, the
/// connection is closed and none made for a second, which doubles up to 30 s when it happens again soon.
final class RedisLink: Sendable {
    struct Settings: Sendable {
        var patience: Duration
        var names: FleetNames
        var greeting: [RESPCommand]
        /// This process, among the members.
        var member: String
        /// How many members there are as long as nobody has counted.
        var expectedMembers: Int
        var clock: any Clock<Duration> = ContinuousClock()
        var limits = Limits()
    }

    /// What isn't a matter of patience, since no call waits for it.
    struct Limits: Sendable {
        /// How long connecting and the first exchange may take.
        var beginning = Duration.seconds(2)
        /// How long a heartbeat may take.
        var heartbeat = Duration.seconds(1)
        /// How long one may take after a failure.
        var probe = Duration.milliseconds(100)
        /// How long nothing may come on the connection for bodies, or on that for messages, while something is awaited there.
        var silence = Duration.seconds(10)
        /// How long nobody refreshes a token of which the store has known nothing: long enough for each member to connect again, and put
        /// back what it knows.
        var grace = Duration.milliseconds(1_500)
    }

    /// Which connection a command takes, and how long its reply is waited for.
    enum Manner {
        /// A call waits, for the patience, and whether the reply comes in that time says whether Redis is in time.
        case urgent
        /// The same, once there has been a connection: without the reply the call would fail, or what others have be obtained again.
        case decisive
        /// No call waits: the reply may take as long as that to a heartbeat, and says nothing of the kind.
        case patient
        /// A call waits, for the patience. The command takes the connection for bodies, where a late reply was behind those of others, and
        /// says nothing of the kind either.
        case amongBodies
    }

    enum Phase {
        /// Not yet connected; those who ask wait for it, until several have waited in vain.
        case beginning
        case connected(RedisSession)
        case down(because: String)
    }

    struct State {
        var phase = Phase.beginning
        var since: Duration = .zero
        /// In a row: once there is a connection, of those that are awaited at the same time one counts.
        var failures = 0
        /// When the last one was counted.
        var failed = Int64.min
        var latency: Duration?
        var members: Int
        var arrivals: [Suspension<Void>] = []
        /// Wakes the keeper.
        var trouble: Suspension<Void>?
        var keeper: Task<Void, Never>?
        /// Isn't held.
        fileprivate weak var listener: (any RedisListener)?
        /// Nil when it is closed, so that a transport of its own ends.
        fileprivate var dial: RedisSession.Dial?
        var isClosed: Bool { dial == nil }

        var session: RedisSession? { if case .connected(let session) = phase { session } else { nil } }

        /// The session, or why there is none; nil: it is still to be awaited.
        fileprivate func arrival(_ manner: Manner) -> Answer<RedisSession>? {
            switch phase {
            case .beginning: manner == .decisive || failures < RedisLink.mostFailures ? nil : .failure(.timedOut)
            case .connected(let session): .success(session)
            case .down(let reason): .failure(.unreachable(reason))
            }
        }
    }

    private static let mostFailures = 5

    let settings: Settings
    let stopwatch: Stopwatch
    let state: Locked<State>

    init(_ settings: Settings, dial: @escaping RedisSession.Dial) {
        self.settings = settings
        stopwatch = Stopwatch(on: settings.clock)
        state = Locked(State(members: max(1, settings.expectedMembers), dial: dial))
    }

    deinit {
        let (keeper, session) = state.withLock { ($0.keeper, $0.session) }
        keeper?.cancel()
        session?.close()
    }

    var listener: (any RedisListener)? {
        get { state.withLock { $0.listener } }
        set { state.withLock { $0.listener = newValue } }
    }

    /// Why decisions are local at present; nil: they aren't.
    var trouble: String? {
        state.withLock { state in
            switch state.phase {
            case .beginning: state.failures > 0 ? "not connected yet" : nil
            case .connected: state.failures > 0 ? "\(StoreFailure.timedOut)" : nil
            case .down(let reason): reason
            }
        }
    }

    /// Sends a command, and waits for its reply.
    ///
    /// - Parameter condition: See ``RedisConnection/send(_:if:)``; nil when it doesn't hold.
    func ask(
        _ make: (RedisSession) -> RESPCommand, _ manner: Manner, if condition: () -> Bool = { true }
    ) async -> Answer<RESPValue>? {
        let begin = stopwatch.elapsedNanoseconds
        switch await arrival(manner) {
        case .failure(let failure): return .failure(failure)
        case .success(let session):
            guard let reply = session.connection(manner).send(make(session), if: condition) else { return nil }
            switch manner {
            case .urgent: return await answer(reply, since: begin)
            // The patience is for the reply alone.
            case .decisive: return await answer(reply, since: stopwatch.elapsedNanoseconds)
            case .patient: return await answer(reply, within: settings.limits.heartbeat)
            case .amongBodies: return await answer(reply, within: settings.patience)
            }
        }
    }

    /// Waits for a reply that says nothing about whether Redis is in time.
    func answer(_ reply: RedisConnection.Reply, within limit: Duration) async -> Answer<RESPValue> {
        await reply.value(within: limit, on: stopwatch.timer) ?? .failure(.timedOut)
    }

    /// Sends a command of which nobody waits for the reply, if there is a connection.
    func tell(_ manner: Manner = .urgent, _ make: (RedisSession) -> RESPCommand) {
        guard let session = state.withLock({ $0.session }) else { return }
        _ = session.connection(manner).send(make(session))
    }

    /// Waits for a reply as long as the patience lasts, and takes notice of what that says about Redis.
    private func answer(_ reply: RedisConnection.Reply, since begin: Int64) async -> Answer<RESPValue> {
        let left = settings.patience - .nanoseconds(stopwatch.elapsedNanoseconds - begin)
        let answer = await answer(reply, within: left)
        let time = Duration.nanoseconds(stopwatch.elapsedNanoseconds - begin)
        let (failures, trouble) = state.withLock { state -> (Int, Suspension<Void>?) in
            guard case .connected = state.phase else { return (0, nil) }
            if case .failure(let failure) = answer, failure.concernsAll {
                // Many calls that miss the same moment say no more than one does.
                if begin >= state.failed { (state.failures, state.failed) = (state.failures + 1, stopwatch.elapsedNanoseconds) }
                return (state.failures, state.trouble)
            }
            state.failures = 0
            let known = state.latency ?? time
            state.latency = known + (time - known) / 8
            return (0, nil)
        }
        if case .failure(let failure) = answer, failures >= Self.mostFailures {
            becomeDown(because: "\(failure)")
        } else {
            trouble?.resume()
        }
        return answer
    }

    /// The session; waited for only when it is the first one.
    func arrival(_ manner: Manner) async -> Answer<RedisSession> {
        if let known = state.withLock({ $0.arrival(manner) }) { return known }
        let wait = Suspension<Void>()
        let known = state.withLock { state -> Answer<RedisSession>? in
            if let known = state.arrival(manner) { return known }
            if state.keeper == nil {
                state.keeper = Task.detached { [weak self] in await RedisLink.keep { [weak self] in self } }
            }
            state.arrivals.append(wait)
            return nil
        }
        if let known { return known }
        let isOver: Bool
        if manner == .decisive {
            // The connection is made or given up in a time of its own.
            if case .value = await wait.wait() { isOver = true } else { isOver = false }
        } else {
            isOver = await wait.value(within: settings.patience, on: stopwatch.timer) != nil
        }
        return state.withLock { state in
            if isOver { return state.arrival(manner) ?? .failure(.timedOut) }
            state.arrivals.removeAll { $0 == wait }
            if manner != .decisive, case .beginning = state.phase { state.failures += 1 }
            return .failure(.timedOut)
        }
    }

    /// Gives up the connection for good.
    func close() {
        let session = state.withLock { $0.session }
        becomeDown(because: "the fleet is closed", isClosed: true)
        // None begins from here on.
        state.withLock { $0.keeper }?.cancel()
        session?.close()
    }

    func becomeConnected(_ session: RedisSession) {
        let arrivals = state.withLock { state -> [Suspension<Void>]? in
            guard !state.isClosed else { return nil }
            (state.phase, state.since, state.failures) = (.connected(session), stopwatch.elapsed, 0)
            defer { state.arrivals = [] }
            return state.arrivals
        }
        guard let arrivals else { return session.close() }
        // Before anything is begun by those who wait.
        listener?.changed(isConnected: true)
        for arrival in arrivals { arrival.resume() }
    }

    /// Has decisions made locally.
    func becomeDown(because reason: String, isClosed: Bool = false) {
        let (wakes, isNew, _) = state.withLock { state -> ([Suspension<Void>], Bool, RedisSession.Dial?) in
            guard !state.isClosed else { return ([], false, nil) }
            var isNew = true
            if case .down = state.phase { isNew = false } else { state.since = stopwatch.elapsed }
            state.phase = .down(because: reason)
            defer { state.arrivals = [] }
            // What it may be the last to hold ends outside of the lock.
            return (state.arrivals + [state.trouble].compactMap { $0 }, isNew, isClosed ? state.dial.take() : nil)
        }
        for wake in wakes { wake.resume() }
        if isNew { listener?.changed(isConnected: false) }
    }

    /// A session in which Redis has been recognized, and has answered a heartbeat.
    func connected() async throws -> RedisSession {
        let late: @Sendable (Duration) -> HTTPError = {
            HTTPError(.timeout, "Redis took longer than \($0) to begin.", phase: .notSent)
        }
        guard let dial = state.withLock({ $0.dial }) else { throw StoreFailure.unreachable("the fleet is closed") }
        return try await TimeLimit(settings.limits.beginning, on: settings.clock).run(error: late) { [self] in
            let session = try await RedisSession(
                dial, greeting: settings.greeting, watching: settings.names.watched, news: settings.names.news
            ) { [weak self] in
                self?.listener?.hear($0, $1)
            } onEnd: { [weak self] in
                self?.becomeDown(because: "\($0)")
            }
            do {
                let (recognized, beaten) = (recognize(session), beat(session))
                _ = try await Self.value(of: recognized)
                count(try await Self.value(of: beaten))
            } catch {
                session.close()
                throw error
            }
            return session
        }
    }

    private static func value(of reply: RedisConnection.Reply?) async throws -> RESPValue {
        guard case .value(let answer) = await reply?.wait() else { throw CancellationError() }
        return try answer.get()
    }
}
