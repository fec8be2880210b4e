internal import Interception
internal import MidstreamCore

/// Up to two exchanges of one request, of which the first acceptable head wins.
///
/// The first runs in a child task, so that it can be cancelled alone when the second wins. It starts in the caller's thread: an answer that
/// needs no waiting costs neither a change of threads nor a timer.
struct HedgeRace: Sendable {
    let account: HedgeAccount
    let time: Timekeeper
    let request: HTTPRequest
    let next: Next<HTTPRequest, HTTPResponse>
    let start: Int64
    let delay: Int64

    func run() async throws -> HTTPResponse {
        let first = leg()
        let results = RaceResults()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.startAtOnce { await results.add(RaceResult(isSecond: false, result: result(of: request, first))) }
            if let atOnce = results.take() { return try finish(atOnce, isHedged: false) }
            var second: Next<HTTPRequest, HTTPResponse>?
            if await results.isLate(after: .nanoseconds(start &+ delay &- time.now(next)), on: next.timer), mayBegin() {
                let leg = leg()
                second = leg
                var hedge = request
                hedge.isHedge = true
                group.startAtOnce { [hedge] in
                    let result = RaceResult(isSecond: true, result: await result(of: hedge, leg).ofNoHedge)
                    if result.isRefusal { account.giveBackHedge() }
                    results.add(result)
                }
            }
            var winner = await results.next()
            if let second {
                if !winner.isAcceptable { winner = await RaceResult.better(winner, results.next()) }
                group.cancelAll()
                try? await group.waitForAll()
                results.take()?.response?.body.close()
                (winner.isSecond ? first : second).giveUp()
            }
            return try finish(winner, isHedged: second != nil)
        }
    }

    /// The rest of the pipeline as a branch of its own, whose bodies can be given up without the other's.
    private func leg() -> Next<HTTPRequest, HTTPResponse> {
        next.branch()
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

    private func finish(_ winner: RaceResult, isHedged: Bool) throws -> HTTPResponse {
        let now = time.now(next)
        // A first that lost took at least as long.
        if isHedged || winner.response != nil { account.record(now &- start, at: now) }
        let response = try winner.result.get()
        if isHedged {
            next.position.record(
                { .hedgeWon(isSecond: winner.isSecond, time: .nanoseconds(now &- start)) }, about: request)
        }
        return response
    }
}

extension Result<HTTPResponse, any Error> {
    /// The same about a request that is none of the second leg any more: sent again, it waits and probes as any other does.
    fileprivate var ofNoHedge: Self {
        switch self {
        case .success(var response):
            response.request.isHedge = false
            return .success(response)
        case .failure(let error):
            guard var own = error as? HTTPError else { return self }
            own.request?.isHedge = false
            own.response?.request.isHedge = false
            return .failure(own)
        }
    }
}

extension ThrowingTaskGroup<Void, any Error> {
    /// Starts a child task whose beginning, up to where it first waits, runs before this returns, where the system can do that. Through the
    /// function of another module it takes an allocation more.
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
