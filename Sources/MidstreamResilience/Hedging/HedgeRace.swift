internal import Interception
internal import MidstreamCore

/// Up to two exchanges of one request, of which the first acceptable response wins.
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
        let first = next.branch()
        let results = RaceResults()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.startAtOnce { await results.add(RaceResult(isSecond: false, result: result(through: first))) }
            if let atOnce = results.take() { return try finish(atOnce, isHedged: false) }
            var second: Next<HTTPRequest, HTTPResponse>?
            if await results.isLate(after: .nanoseconds(start &+ delay &- time.now(next)), on: next.timer), mayBegin() {
                let hedge = next.branch(asHedge: true)
                second = hedge
                group.startAtOnce {
                    let result = RaceResult(isSecond: true, result: await result(through: hedge))
                    if let reason = result.refusal { refused(because: reason) }
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
            return try finish(winner, isHedged: second != nil && !results.isSecondRefused)
        }
    }

    /// - Parameter leg: The rest of the pipeline as a branch of its own, whose bodies can be given up without the other's.
    private func result(through leg: Next<HTTPRequest, HTTPResponse>) async -> Result<HTTPResponse, any Error> {
        do { return .success(try await leg(request)) } catch { return .failure(error) }
    }

    private func mayBegin() -> Bool {
        let isSent = account.takeHedge()
        next.position.record(
            { .hedge(key: account.key, after: .nanoseconds(delay), isSent: isSent) }, about: request)
        return isSent
    }

    private func refused(because reason: HTTPError.Code) {
        account.giveBackHedge()
        next.position.record({ .hedgeRefused(key: account.key, reason: reason) }, about: request)
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

extension ThrowingTaskGroup<Void, any Error> {
    /// Starts a child task whose beginning, up to where it first waits, runs before this returns, where the system can do that. Through the
    /// function of another module it takes an allocation more.
    fileprivate mutating func startAtOnce(_ operation: @escaping @Sendable () async -> Void) {
        if #available(macOS 26.0, iOS 26.0, watchOS 26.0, tvOS 26.0, visionOS 26.0, *) {
            addImmediateTask(operation: operation)
            return
        }
        addTask(operation: operation)
    }
}
