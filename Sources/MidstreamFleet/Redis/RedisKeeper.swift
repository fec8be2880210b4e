internal import Interception
internal import MidstreamCore

extension RedisLink {
    /// Connects, again and again, and finds out whether Redis answers, until the link is gone or the task cancelled.
    ///
    /// - Parameter link: nil when it is gone. It isn't held while nothing is to be done.
    static func keep(_ link: @Sendable () -> RedisLink?) async {
        guard let timer = link()?.stopwatch.timer else { return }
        var pause = ReconnectPause()
        while !Task.isCancelled {
            var isRefused = false
            switch await begin(link) {
            case .success(let session):
                pause = ReconnectPause()
                await watch(session, link, timer)
                session.close()
            case .failure(let failure): isRefused = failure.isRefusal
            }
            guard link() != nil else { return }
            try? await timer.sleep(for: pause.next(isRefused: isRefused) * Double.random(in: 0.5...1))
        }
    }

    private struct NotBegun: Error {
        let isRefusal: Bool
    }

    /// Apart, so that the link isn't held for longer.
    private static func begin(_ link: @Sendable () -> RedisLink?) async -> Result<RedisSession, NotBegun> {
        guard let present = link() else { return .failure(NotBegun(isRefusal: false)) }
        do {
            let session = try await present.connected()
            present.becomeConnected(session)
            return .success(session)
        } catch {
            return .failure(NotBegun(isRefusal: present.becomeDown(error)))
        }
    }

    /// A session in which Redis has answered a heartbeat.
    private func connected() async throws -> RedisSession {
        try await TimeLimit(settings.limits.beginning, on: settings.clock).run(error: Self.late) { [self] in
            let session = try await dialled()
            do {
                guard let reply = beat(session), case .value(let answer) = await reply.wait() else { throw CancellationError() }
                count(try answer.get())
            } catch {
                session.close()
                throw error
            }
            return session
        }
    }

    private static func late(_ limit: Duration) -> HTTPError {
        HTTPError(.timeout, "Redis took longer than \(limit) to begin.", phase: .notSent)
    }

    /// Beats until the connection is lost, or Redis doesn't answer for a second.
    private static func watch(_ session: RedisSession, _ link: @Sendable () -> RedisLink?, _ timer: ClockTimer) async {
        guard let limit = link()?.settings.limits.heartbeat else { return }
        var rest = Duration.seconds(1)
        var lastRest: Duration?
        while !Task.isCancelled {
            let trouble = Suspension<Void>()
            guard let isTripped = link()?.awaitTrouble(trouble) else { return }
            if !isTripped {
                guard case .timedOut = await trouble.wait(for: heartbeat, on: timer) else {
                    if link()?.isAlive(session) == true { continue }
                    return
                }
            } else {
                guard link()?.isAlive(session) == true, let now = link()?.stopwatch.elapsed else { return }
                rest = lastRest.map { now - $0 < .seconds(30) } == true ? min(rest * 2, .seconds(30)) : .seconds(1)
                try? await timer.sleep(for: rest)
            }
            guard let reply = link()?.beat(session) else { return }
            guard case .value(.success(let value)) = await reply.wait(for: limit, on: timer) else {
                _ = link()?.becomeDown(StoreFailure.timedOut)
                return
            }
            link()?.count(value)
            if isTripped {
                link()?.becomeConnected(session)
                lastRest = link()?.stopwatch.elapsed
            }
        }
    }

    /// Has the suspension resumed when something goes wrong; true: it has.
    private func awaitTrouble(_ trouble: Suspension<Void>) -> Bool {
        state.withLock { state in
            state.trouble = trouble
            if case .connected = state.phase { return false }
            return true
        }
    }

    /// Whether the connection is there, although Redis may not have answered in time.
    private func isAlive(_ session: RedisSession) -> Bool { !Task.isCancelled && session.commands.isOpen }

    private func beat(_ session: RedisSession) -> RedisConnection.Reply? {
        session.commands.send(
            session.command(
                .heartbeat, keys: [settings.names.members],
                [settings.member, "\(Self.memberLife.wholeMilliseconds)"].bytes))
    }

    private func count(_ reply: RESPValue) {
        guard let members = reply.number, members > 0 else { return }
        state.withLock { $0.members = Int(clamping: members) }
    }

    private func becomeConnected(_ session: RedisSession) {
        let arrivals = state.withLock { state -> [Suspension<Void>]? in
            guard !state.isClosed else { return nil }
            state.phase = .connected(session)
            state.since = stopwatch.elapsed
            state.failures = 0
            defer { state.arrivals = [] }
            return state.arrivals
        }
        guard let arrivals else { return session.close() }
        for arrival in arrivals { arrival.resume() }
        onChange(true)
    }

    /// - Returns: Whether it is of no use to try again soon.
    private func becomeDown(_ error: any Error) -> Bool {
        let (reason, isRefused): (String, Bool) =
            switch error {
            case let failure as StoreFailure: ("\(failure)", failure.isLasting)
            case let error as HTTPError: (error.publicMessage, error.code == .tls)
            default: ("the connection couldn't be made", false)
            }
        let (arrivals, isNew) = state.withLock { state -> ([Suspension<Void>], Bool) in
            if state.isClosed { return ([], false) }
            var isNew = true
            if case .down = state.phase { isNew = false } else { state.since = stopwatch.elapsed }
            state.phase = .down(because: reason)
            defer { state.arrivals = [] }
            return (state.arrivals, isNew)
        }
        for arrival in arrivals { arrival.resume() }
        if isNew { onChange(false) }
        return isRefused
    }
}

/// How long to wait before a server is connected to again: 50 ms, doubling to a second so that one that is back is soon noticed; and to 30 s
/// while it refuses.
private struct ReconnectPause {
    private var next: Duration?

    mutating func next(isRefused: Bool) -> Duration {
        let pause = next ?? (isRefused ? .seconds(1) : .milliseconds(50))
        next = min(pause * 2, isRefused ? .seconds(30) : .seconds(1))
        return min(pause, isRefused ? .seconds(30) : .seconds(1))
    }
}

extension HTTPError {
    /// What went wrong, without anything that a server has said.
    fileprivate var publicMessage: String { "the connection couldn't be made (\(code))" }
}

extension Duration {
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

extension StoreFailure {
    /// Whether it takes somebody to end it.
    fileprivate var isLasting: Bool {
        switch self {
        case .unwilling(let code): ["WRONGPASS", "NOAUTH", "NOPERM"].contains(code)
        case .refused: true
        case .timedOut, .unreachable: false
        }
    }
}
