internal import Interception
internal import MidstreamCore

extension RedisLink {
    private typealias AwaitedReply = (reply: RedisConnection.Reply, since: Duration)

    private static let heartbeat = Duration.seconds(3)
    /// How long a member counts after its last heartbeat.
    private static let memberLife = Duration.seconds(10)
    /// How long it is remembered which process Redis was, after the last heartbeat: without that everything is removed.
    private static let processLife = Duration.seconds(365 * 86_400)

    /// Connects, again and again, and finds out whether Redis answers, until the link is gone or the task cancelled.
    ///
    /// - Parameter link: nil when it is gone. It isn't held while nothing is to be done.
    static func keep(_ link: @Sendable () -> RedisLink?) async {
        guard let timer = link()?.stopwatch.timer else { return }
        // A server that is back is soon noticed; one that is silent is left alone, for longer when that happens again soon.
        var (losses, silences) = (Pauses(from: .milliseconds(50), to: .seconds(1)), Pauses(from: .seconds(1), to: .seconds(30)))
        while !Task.isCancelled {
            var pause = losses.next()
            if let session = await link()?.begin() {
                losses = losses.restarted()
                let begin = link()?.stopwatch.elapsed ?? .zero
                await watch(session, link, timer)
                if let end = link()?.stopwatch.elapsed, end - begin > .seconds(30) { silences = silences.restarted() }
                pause = session.isOpen ? silences.next() : losses.next()
                session.close()
            }
            guard link() != nil else { return }
            try? await timer.sleep(for: pause * Double.random(in: 0.5...1))
        }
    }

    /// Apart, so that the link isn't held for longer.
    private func begin() async -> RedisSession? {
        do {
            let session = try await connected()
            becomeConnected(session)
            return session
        } catch let failure as StoreFailure {
            becomeDown(because: "\(failure)")
        } catch {
            // Without anything that a server has said.
            let code = (error as? HTTPError)?.code
            becomeDown(because: "the connection couldn't be made" + (code.map { " (\($0))" } ?? ""))
        }
        return nil
    }

    /// Beats until the connection is lost, or Redis doesn't answer.
    private static func watch(_ session: RedisSession, _ link: @Sendable () -> RedisLink?, _ timer: ClockTimer) async {
        var awaited: [AwaitedReply] = []
        while !Task.isCancelled {
            let trouble = Suspension<Void>()
            let isConnected = link()?.state.withLock { state in
                state.trouble = trouble
                return state.session != nil
            }
            guard isConnected == true, var limit = link()?.settings.limits.heartbeat else { return }
            if case .value = await trouble.wait(for: heartbeat, on: timer) {
                // After a failure it answers soon, or is down.
                guard let link = link(), link.state.withLock({ $0.session }) != nil else { return }
                limit = link.settings.limits.probe
            }
            guard let reply = link()?.beat(session) else { return }
            let failure: StoreFailure
            switch await reply.wait(for: limit, on: timer) {
            case .value(.success(let value)):
                link()?.count(value)
                guard link()?.isStalled(session, &awaited) == true else { continue }
                failure = .timedOut
            case .value(.failure(let said)): failure = said
            case .timedOut, .cancelled: failure = .timedOut
            }
            link()?.becomeDown(because: "\(failure)")
            return
        }
    }

    func beat(_ session: RedisSession) -> RedisConnection.Reply? {
        session.commands.send(
            session.command(
                .heartbeat, keys: [settings.names.members, settings.names.process],
                [
                    .text(settings.member), "\(Self.memberLife.wholeMilliseconds)", "\(Self.processLife.wholeMilliseconds)",
                ]))
    }

    /// Whether replies have ceased to come on one of the connections that no heartbeat takes. One on which nothing is awaited is asked for a
    /// sign of life, so that nothing between forgets it.
    ///
    /// - Parameter awaited: The replies that were to come next the last time.
    private func isStalled(_ session: RedisSession, _ awaited: inout [AwaitedReply]) -> Bool {
        let (now, known) = (stopwatch.elapsed, awaited)
        awaited = [session.bodies, session.messages].compactMap { connection -> AwaitedReply? in
            guard let next = connection.nextReply else {
                _ = connection.send(RESPCommand("PING"))
                return nil
            }
            return known.first { $0.reply == next } ?? (reply: next, since: now)
        }
        return awaited.contains { now - $0.since > settings.limits.silence }
    }

    /// Has everything removed if Redis may have forgotten what was.
    func recognize(_ session: RedisSession) -> RedisConnection.Reply? {
        session.commands.send(
            session.command(
                .recognize, keys: [settings.names.process, settings.names.everything],
                ["\(Self.processLife.wholeMilliseconds)", "\(RedisStore.stampLife.wholeMilliseconds)"]))
    }

    func count(_ reply: RESPValue) {
        guard let members = reply.number, members > 0 else { return }
        state.withLock { $0.members = Int(clamping: members) }
    }
}

/// Pauses that double.
private struct Pauses {
    private let first: Duration
    private let longest: Duration
    private var following: Duration

    init(from first: Duration, to longest: Duration) { (self.first, self.longest, following) = (first, longest, first) }

    mutating func next() -> Duration {
        defer { following = min(following * 2, longest) }
        return following
    }

    func restarted() -> Pauses { Pauses(from: first, to: longest) }
}

extension Duration {
    var wholeMilliseconds: Int64 { wholeNanoseconds / 1_000_000 }
}
