internal import Interception
internal import MidstreamCore
internal import WebSocketFrames

/// Pings and pongs (RFC 6455 §5.5.2).
extension Connection {
    /// Pings the other side; how long the answer took.
    ///
    /// - Throws: ``HTTPError/Code/timeout``, ``HTTPError/Code/connectionLost``, `CancellationError`; the first and the last leave the socket
    ///   as it is.
    func ping() async throws -> Duration {
        let answer = Suspension<Result<Duration, any Error>>()
        let sentAt = stopwatch.elapsed
        let number = state.withLock { state in
            guard state.end == nil, state.closing == nil else { return nil as UInt64? }
            return state.pings.add(answer, at: sentAt)
        }
        guard let number else { throw failure }
        sendControl(.ping, Pings.payload(number))
        let ending = await answer.wait(for: options.pongTimeout, on: stopwatch.timer)
        if case .value(let result) = ending { return try result.get() }
        state.withLock { $0.pings.remove(number) }
        if case .cancelled = ending { throw CancellationError() }
        throw HTTPError(.timeout, "No pong came within \(options.pongTimeout).", phase: .answered)
    }

    func takePong(_ payload: [UInt8]) {
        let now = stopwatch.elapsed
        let answered = state.withLock { state in
            let answered = state.pings.answered(by: payload)
            if let last = answered.last { state.metrics.lastRoundTrip = now - last.sentAt }
            return answered
        }
        for ping in answered { ping.answer.resume(.success(now - ping.sentAt)) }
    }

    /// Pings until the socket ends, and ends it when neither an answer comes nor anything else that shows life: a pong has to wait behind the
    /// rest of a frame that is coming, and a ping behind what is leaving.
    func keepAlive(every interval: Duration) async {
        while true {
            guard (try? await stopwatch.timer.sleep(for: interval)) != nil else { return }
            let waitedForTurn = frames.isTaken
            let (received, sent, turns) = state.withLock {
                ($0.metrics.wireBytesReceived, $0.metrics.wireBytesSent, $0.controls.turns)
            }
            // Asked after what was sent, and below before it: a frame in between may seem to have left after the ping, and never before.
            let unsent = Int64(channel.unsent)
            do {
                _ = try await ping()
            } catch let error as HTTPError where error.code == .timeout {
                let stillUnsent = Int64(channel.unsent)
                // While the reader is behind, no pong is read either.
                let isAlive = state.withLock { state in
                    let someHasLeft = state.metrics.wireBytesSent - stillUnsent > sent - unsent
                    return state.inbox.receiver != nil || state.metrics.wireBytesReceived > received
                        || waitedForTurn && state.controls.turns > turns || unsent > 0 && someHasLeft
                }
                guard !isAlive else { continue }
                return end(.lost(WebSocketClosure(code: .abnormal, byPeer: false), error.message))
            } catch {
                return
            }
        }
    }
}

/// Pings whose answers are to come. Part of a connection's state.
struct Pings {
    struct Ping {
        let number: UInt64
        let sentAt: Duration
        let answer: Suspension<Result<Duration, any Error>>
    }

    private var last: UInt64 = 0
    private var waiting: [Ping] = []

    static func payload(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    mutating func add(_ answer: Suspension<Result<Duration, any Error>>, at time: Duration) -> UInt64 {
        last += 1
        waiting.append(Ping(number: last, sentAt: time, answer: answer))
        return last
    }

    mutating func remove(_ number: UInt64) { waiting.removeAll { $0.number == number } }

    /// Those that a pong answers: a later one's answers those before it, too (RFC 6455 §5.5.3).
    mutating func answered(by payload: [UInt8]) -> [Ping] {
        guard let place = waiting.firstIndex(where: { Self.payload($0.number) == payload }) else { return [] }
        defer { waiting.removeFirst(place + 1) }
        return Array(waiting[...place])
    }

    func fail(_ error: HTTPError) {
        for ping in waiting { ping.answer.resume(.failure(error)) }
    }
}
