internal import Interception
internal import MidstreamCore
internal import WebSocketFrames

/// Pings and pongs (RFC 6455 §5.5.2).
extension Connection {
    /// However often pings are asked for, and however soon their answers.
    private static let shortestWait = Duration.milliseconds(1)

    private var pongTimeout: Duration { max(Self.shortestWait, options.pongTimeout) }

    /// Pings the other side; how long the answer took.
    ///
    /// - Parameter isSent: False: only the time of an answer is waited for, since an earlier ping hasn't had its turn yet.
    /// - Throws: ``HTTPError/Code/timeout``, ``HTTPError/Code/connectionLost``, `CancellationError`; the first and the last leave the socket
    ///   as it is.
    func ping(isSent: Bool = true) async throws -> Duration {
        let answer = Suspension<Result<Duration, any Error>>()
        let sentAt = stopwatch.elapsed
        let number = state.withLock { state in
            guard state.end == nil, state.closing == nil else { return nil as UInt64? }
            return state.pings.add(answer, at: sentAt)
        }
        guard let number else { throw failure }
        if isSent { sendControl(.ping, Pings.payload(number)) }
        let ending = await answer.wait(for: pongTimeout, on: stopwatch.timer)
        if case .value(let result) = ending { return try result.get() }
        state.withLock { $0.pings.remove(number) }
        if case .cancelled = ending { throw CancellationError() }
        throw HTTPError(.timeout, "No pong came within \(pongTimeout).", request: request, phase: .answered)
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
    /// rest of a frame that is coming, and a ping behind what is leaving. While one waits there, no other joins it.
    func keepAlive(every interval: Duration) async {
        while true {
            guard (try? await stopwatch.timer.sleep(for: max(Self.shortestWait, interval))) != nil else { return }
            let waitedForTurn = frames.isTaken
            let (received, sent, turns, hasPing) = state.withLock {
                ($0.metrics.wireBytesReceived, $0.metrics.wireBytesSent, $0.controls.turns, $0.controls.hasPing)
            }
            // Asked after what was sent, and below before it: a frame in between may seem to have left after the ping, and never before.
            let unsent = Int64(channel.unsent)
            do {
                _ = try await ping(isSent: !hasPing)
            } catch let error as HTTPError where error.code == .timeout {
                let stillUnsent = Int64(channel.unsent)
                // While the reader is behind, no pong is read either.
                let isAlive = state.withLock { state in
                    let someHasLeft = state.metrics.wireBytesSent - stillUnsent > sent - unsent
                    return state.inbox.receiver != nil || state.metrics.wireBytesReceived > received
                        || waitedForTurn && state.controls.turns > turns || unsent > 0 && someHasLeft
                }
                guard !isAlive else { continue }
                return end(lost(WebSocketClosure(code: .abnormal, byPeer: false), error.message))
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
