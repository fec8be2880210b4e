internal import Interception
internal import MidstreamCore

/// The way to Redis, which is never in the way: whoever asks waits for at most the patience, and not at all while Redis doesn't answer.
///
/// After five failures in a row it isn't asked for a second, which doubles up to 30 s when it happens again soon. A lost
/// connection is made anew in the background.
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
        /// How long nobody refreshes a token of which the store has known nothing: long enough for each member to connect again, and put
        /// back what it knows.
        var grace = Duration.milliseconds(1_500)
    }

    enum Phase {
        case idle
        /// For the first time; those who ask wait for it.
        case connecting
        case connected(RedisSession)
        case down(because: String)
    }

    struct State {
        var phase = Phase.idle
        var since: Duration = .zero
        /// In a row.
        var failures = 0
        var latency: Duration?
        var members: Int
        var arrivals: [Suspension<Void>] = []
        /// Wakes the keeper.
        var trouble: Suspension<Void>?
        var keeper: Task<Void, Never>?
        var isClosed = false
    }

    static let mostFailures = 5
    static let heartbeat = Duration.seconds(3)
    /// How long a member counts after its last heartbeat.
    static let memberLife = Duration.seconds(10)

    let settings: Settings
    let stopwatch: Stopwatch
    let state: Locked<State>
    private let dial: RedisSession.Dial
    let onMessage: @Sendable (_ channel: String, _ content: [String]?) -> Void
    /// Called when it is connected, and when it no longer is.
    let onChange: @Sendable (_ isConnected: Bool) -> Void

    init(
        _ settings: Settings, dial: @escaping RedisSession.Dial,
        onMessage: @escaping @Sendable (_ channel: String, _ content: [String]?) -> Void,
        onChange: @escaping @Sendable (_ isConnected: Bool) -> Void
    ) {
        self.settings = settings
        self.dial = dial
        self.onMessage = onMessage
        self.onChange = onChange
        stopwatch = Stopwatch(on: settings.clock)
        state = Locked(State(members: max(1, settings.expectedMembers)))
    }

    deinit {
        state.withLock { state in
            state.keeper?.cancel()
            if case .connected(let session) = state.phase { session.close() }
        }
    }

    /// Why decisions are local at present; nil: they aren't.
    var trouble: String? {
        state.withLock { state in
            switch state.phase {
            case .idle, .connecting: nil
            case .connected: state.failures > 0 ? "no answer in time" : nil
            case .down(let reason): reason
            }
        }
    }

    /// Sends a command, and waits for its reply as long as the patience lasts.
    ///
    /// - Parameter condition: See ``RedisConnection/send(_:if:)``; nil when it doesn't hold.
    func ask(_ make: @Sendable (RedisSession) -> RESPCommand, if condition: () -> Bool = { true }) async -> Answer<RESPValue>? {
        let begin = stopwatch.elapsed
        let session: RedisSession
        switch await arrival() {
        case .success(let present): session = present
        case .failure(let failure): return .failure(failure)
        }
        guard let reply = session.commands.send(make(session), if: condition) else { return nil }
        return await answer(reply, within: settings.patience - (stopwatch.elapsed - begin))
    }

    /// Sends a command of which nobody waits for the reply, if there is a connection.
    func tell(_ make: @Sendable (RedisSession) -> RESPCommand) {
        guard let session = state.withLock({ if case .connected(let session) = $0.phase { session } else { nil } }) else {
            return
        }
        _ = session.commands.send(make(session))
    }

    /// Waits for the reply, and takes notice of what that says about Redis.
    func answer(_ reply: RedisConnection.Reply, within limit: Duration) async -> Answer<RESPValue> {
        let begin = stopwatch.elapsedNanoseconds
        let answer = await reply.value(within: limit, on: stopwatch.timer) ?? .failure(.timedOut)
        note(answer, after: .nanoseconds(stopwatch.elapsedNanoseconds - begin))
        return answer
    }

    private enum Arrival {
        case known(Answer<RedisSession>)
        case awaited(Suspension<Void>)
    }

    /// The session; waited for only when it is the first one.
    func arrival() async -> Answer<RedisSession> {
        let wait: Suspension<Void>
        switch state.withLock({ arrival(&$0) }) {
        case .known(let answer): return answer
        case .awaited(let suspension): wait = suspension
        }
        let isOver = await wait.value(within: settings.patience, on: stopwatch.timer) != nil
        let (answer, isTripped) = state.withLock { state -> (Answer<RedisSession>, Bool) in
            state.arrivals.removeAll { $0 == wait }
            switch state.phase {
            case .connected(let session): return (.success(session), false)
            case .down(let reason): return (.failure(.unreachable(reason)), false)
            case .idle, .connecting:
                if !isOver { state.failures += 1 }
                guard state.failures >= Self.mostFailures else { return (.failure(.timedOut), false) }
                state.phase = .down(because: "\(StoreFailure.timedOut)")
                state.since = stopwatch.elapsed
                return (.failure(.timedOut), true)
            }
        }
        if isTripped { onChange(false) }
        return answer
    }

    private func arrival(_ state: inout State) -> Arrival {
        switch state.phase {
        case .connected(let session): return .known(.success(session))
        case .down(let reason): return .known(.failure(.unreachable(reason)))
        case .idle:
            state.phase = .connecting
            state.keeper = Task.detached { [weak self] in await RedisLink.keep { [weak self] in self } }
        case .connecting: break
        }
        let wait = Suspension<Void>()
        state.arrivals.append(wait)
        return .awaited(wait)
    }

    /// Gives up the connection for good.
    func close() {
        let (session, keeper, arrivals) = state.withLock { state in
            state.isClosed = true
            defer {
                state.phase = .down(because: "the fleet is closed")
                state.arrivals = []
            }
            if case .connected(let session) = state.phase { return (Optional(session), state.keeper, state.arrivals) }
            return (nil, state.keeper, state.arrivals)
        }
        keeper?.cancel()
        session?.close()
        for arrival in arrivals { arrival.resume() }
    }

    private func note(_ answer: Answer<RESPValue>, after time: Duration) {
        let wake = state.withLock { state -> Suspension<Void>? in
            guard case .connected = state.phase else { return nil }
            if case .failure(let failure) = answer, failure.concernsAll {
                state.failures += 1
                guard state.failures == Self.mostFailures else { return nil }
                state.phase = .down(because: "\(failure)")
                state.since = stopwatch.elapsed
                return state.trouble
            }
            state.failures = 0
            let known = state.latency ?? time
            state.latency = known + (time - known) / 8
            return nil
        }
        guard let wake else { return }
        wake.resume()
        onChange(false)
    }

    func dialled() async throws -> RedisSession {
        try await RedisSession.begin(
            dial, greeting: settings.greeting, watching: settings.names.watched, news: settings.names.news, onMessage: onMessage
        ) { [weak self] failure in
            self?.lost(failure)
        }
    }

    private func lost(_ failure: StoreFailure) {
        let (wasConnected, wake) = state.withLock { state -> (Bool, Suspension<Void>?) in
            guard case .connected = state.phase else { return (false, state.trouble) }
            state.phase = .down(because: "\(failure)")
            state.since = stopwatch.elapsed
            return (true, state.trouble)
        }
        wake?.resume()
        if wasConnected { onChange(false) }
    }
}
