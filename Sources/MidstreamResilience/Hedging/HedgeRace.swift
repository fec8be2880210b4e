internal import Interception
internal import MidstreamCore

/// Up to two exchanges of one request, of which the first acceptable head wins.
struct HedgeRace: Sendable {
    private enum Event: Sendable {
        /// The first has taken long enough.
        case isLate
        case ended(isSecond: Bool, Result<HTTPResponse, any Error>)
    }

    let account: HedgeAccount
    let time: Timekeeper
    let request: HTTPRequest
    let next: Next<HTTPRequest, HTTPResponse>
    let start: Int64
    let delay: Int64

    func run() async throws -> HTTPResponse {
        let call = next.call
        let first = leg()
        return try await withThrowingTaskGroup(of: Event.self) { group in
            group.addTask { await Event.ended(isSecond: false, result(of: request, first)) }
            group.addTask { [delay] in
                try await (call?.stopwatch.clock ?? ContinuousClock()).pause(for: .nanoseconds(delay))
                return .isLate
            }
            var running = 1
            var kept: (isSecond: Bool, result: Result<HTTPResponse, any Error>)?
            var second: Next<HTTPRequest, HTTPResponse>?
            while running > 0 {
                // The wait throws when it is cancelled, which the first exchange hears of, too.
                guard let event = try? await group.next() else { continue }
                switch event {
                case .isLate:
                    guard kept == nil, running == 1, second == nil, mayBegin() else { continue }
                    let leg = leg()
                    second = leg
                    running += 1
                    var hedge = request
                    hedge.isHedge = true
                    group.addTask { [hedge] in await Event.ended(isSecond: true, result(of: hedge, leg)) }
                case .ended(let isSecond, let result):
                    running -= 1
                    if isSecond, result.isRefusal { account.giveBackHedge() }
                    kept = Self.better(kept, (isSecond, result))
                    if running > 0, !result.isAcceptable { continue }
                    running = 0
                }
            }
            group.cancelAll()
            guard let winner = kept else { throw CancellationError() }
            // What comes in now is nobody's.
            while let event = await group.nextResult() {
                guard case .success(.ended(let isSecond, let result)) = event else { continue }
                if isSecond, result.isRefusal { account.giveBackHedge() }
                result.response?.body.close()
            }
            if second != nil { (winner.isSecond ? first : second)?.call?.giveUp() }
            return try finish(winner, isHedged: second != nil)
        }
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
            { CallEvents.Hedge(key: account.key, after: .nanoseconds(delay), isSent: isSent) }, about: request)
        return isSent
    }

    private func finish(
        _ winner: (isSecond: Bool, result: Result<HTTPResponse, any Error>), isHedged: Bool
    ) throws -> HTTPResponse {
        let now = time.now(next.call)
        // Of a first that lost it is known that it took at least so long.
        if isHedged || winner.result.response != nil { account.record(now &- start, at: now) }
        let response = try winner.result.get()
        next.call?.opened(response.body)
        if isHedged {
            next.position.record(
                { CallEvents.HedgeWon(isSecond: winner.isSecond, time: .nanoseconds(now &- start)) }, about: request)
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
