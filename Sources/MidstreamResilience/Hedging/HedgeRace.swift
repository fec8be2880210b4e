internal import Interception
internal import MidstreamCore

/// Up to two exchanges of one request, of which the first acceptable head wins.
///
/// The first runs in a child task: should the second win, it is cancelled alone, which a task can't be in part. It begins there where the
/// caller is, so that one which answers at once costs no change of threads, nor a timer.
struct HedgeRace: Sendable {
    let account: HedgeAccount
    let timer: HedgeTimer
    let time: Timekeeper
    let request: HTTPRequest
    let next: Next<HTTPRequest, HTTPResponse>
    let start: Int64
    let delay: Int64

    func run() async throws -> HTTPResponse {
        let first = leg()
        let events = RaceEvents()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.startAtOnce { await events.ended(isSecond: false, result(of: request, first)) }
            var event = events.takeAtOnce()
            let alarm = event == nil ? setAlarm(for: events) : nil
            defer { if let alarm { timer.remove(alarm) } }
            var running = 1
            var kept: (isSecond: Bool, result: RaceEvents.Ending)?
            var second: Next<HTTPRequest, HTTPResponse>?
            while running > 0 {
                if event == nil { event = await events.next() }
                switch event.take() {
                case .isLate:
                    guard kept == nil, running == 1, second == nil, !Task.isCancelled, mayBegin() else { continue }
                    let leg = leg()
                    second = leg
                    running += 1
                    var hedge = request
                    hedge.isHedge = true
                    group.startAtOnce { [hedge] in await events.ended(isSecond: true, result(of: hedge, leg)) }
                case .ended(let isSecond, let result):
                    running -= 1
                    if isSecond, result.isRefusal { account.giveBackHedge() }
                    kept = Self.better(kept, (isSecond, result))
                    if running > 0, !result.isAcceptable { continue }
                    running = 0
                case nil: continue
                }
            }
            if second != nil {
                group.cancelAll()
                try? await group.waitForAll()
                // What comes in now is nobody's.
                while case .ended(let isSecond, let result)? = events.takeAtOnce() {
                    if isSecond, result.isRefusal { account.giveBackHedge() }
                    result.response?.body.close()
                }
            }
            guard let winner = kept else { throw CancellationError() }
            if second != nil { (winner.isSecond ? first : second)?.call?.giveUp() }
            return try finish(winner, isHedged: second != nil)
        }
    }

    private func setAlarm(for events: RaceEvents) -> HedgeTimer.Alarm {
        let clock = next.call?.stopwatch.clock ?? ContinuousClock()
        return timer.set(for: events, at: start &+ delay, on: clock) { [time] in time.now(on: clock) }
    }

    /// The rest of the pipeline as a branch of its own, whose bodies can be given up without the other's.
    private func leg() -> Next<HTTPRequest, HTTPResponse> {
        next.branching(to: next.call?.branch(), due: next.position.due)
    }

    private func result(
        of request: HTTPRequest, _ leg: Next<HTTPRequest, HTTPResponse>
    ) async -> Result<HTTPResponse, any Error> {
        do { return .success(try await leg(request)) } catch { return .failure(error) }
    }

    private func mayBegin() -> Bool {
        let isSent = account.takeHedge()
        next.position.record(
            { .hedge(key: account.key, after: .nanoseconds(delay), isSent: isSent) }, about: request)
        return isSent
    }

    private func finish(
        _ winner: (isSecond: Bool, result: Result<HTTPResponse, any Error>), isHedged: Bool
    ) throws -> HTTPResponse {
        let now = time.now(next)
        // Of a first that lost it is known that it took at least so long.
        if isHedged || winner.result.response != nil { account.record(now &- start, at: now) }
        let response = try winner.result.get()
        next.call?.opened(response.body)
        if isHedged {
            next.position.record(
                { .hedgeWon(isSecond: winner.isSecond, time: .nanoseconds(now &- start)) }, about: request)
        }
        return response
    }

    /// Of two results the better one: an acceptable response, any response, the failure of the first. The other's body is closed.
    private static func better(
        _ a: (isSecond: Bool, result: Result<HTTPResponse, any Error>)?,
        _ b: (isSecond: Bool, result: Result<HTTPResponse, any Error>)
    ) -> (isSecond: Bool, result: Result<HTTPResponse, any Error>) {
        guard let a else { return b }
        let isBetter = (b.result.value, b.isSecond ? 0 : 1) > (a.result.value, a.isSecond ? 0 : 1)
        (isBetter ? a : b).result.response?.body.close()
        return isBetter ? b : a
    }
}

extension ThrowingTaskGroup<Void, any Error> {
    /// Starts a child task whose beginning, up to where it first waits, runs before this returns, where the system can do that. Not that of
    /// all task groups: through a function of another module it takes an allocation more.
    fileprivate mutating func startAtOnce(_ operation: @escaping @Sendable () async -> Void) {
        #if compiler(>=6.2)
            if #available(macOS 26.0, iOS 26.0, watchOS 26.0, tvOS 26.0, visionOS 26.0, *) {
                addImmediateTask(operation: operation)
                return
            }
        #endif
        addTask(operation: operation)
    }
}

extension Result where Success == HTTPResponse, Failure == any Error {
    fileprivate var response: HTTPResponse? { try? get() }

    /// Whether it ends the race: anything but a 5xx and a failure.
    fileprivate var isAcceptable: Bool { response.map { $0.status.code < 500 } ?? false }

    fileprivate var value: Int { isAcceptable ? 2 : response == nil ? 0 : 1 }

    /// Whether nothing was sent since an interceptor further in wouldn't have it.
    fileprivate var isRefusal: Bool {
        guard case .failure(let error as HTTPError) = self else { return false }
        return error.code == .overloaded || error.code == .circuitOpen || error.code == .rateLimited
    }
}
