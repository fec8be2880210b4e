import Midstream

/// Sends a safe request a second time when there is no answer after a while, and takes the answer that comes first.
struct OwnHedge: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.hedging
    let traits = InterceptorTraits.endsInTime
    private let delay: Duration

    init(after delay: Duration) { self.delay = delay }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard request.method.isSafe else { return try await next(request) }
        let branches = [next.branch(), next.branch()]
        return try await withThrowingTaskGroup(of: (place: Int, response: HTTPResponse).self) { group in
            group.addTask { (0, try await branches[0](request)) }
            group.addTask {
                try await Task.sleep(for: delay)
                request.record(CallEvent("own.hedge", "a second exchange"))
                return (1, try await branches[1](request))
            }
            guard let winner = try await group.next() else { throw CancellationError() }
            group.cancelAll()
            while let late = await group.nextResult() { (try? late.get())?.response.body.close() }
            branches[1 - winner.place].giveUp()
            return winner.response
        }
    }
}
