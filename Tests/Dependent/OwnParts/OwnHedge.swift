import Midstream

/// Sends a safe request a second time when there is no answer after a while, and takes the answer that comes first.
struct OwnHedge: HTTPInterceptor {
    private enum Event: Sendable {
        /// The first takes long.
        case late
        case ended(Int, Result<HTTPResponse, any Error>)
    }

    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.hedging
    let traits: InterceptorTraits = [.endsInTime, .impersonal]
    private let delay: Duration

    init(after delay: Duration) { self.delay = delay }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard request.method.isSafe, request.body.replayability == .replayable else { return try await next(request) }
        let branches = [next.branch(), next.branch(asHedge: true)]
        let result = await withTaskGroup(of: Event.self) { group -> Result<HTTPResponse, any Error> in
            group.addTask { await Self.end(0, of: request, through: branches[0]) }
            group.addTask {
                // Cancelled when the first has ended.
                try? await next.clock.sleep(for: delay)
                return .late
            }
            var isHedged = false
            var winner: (place: Int, response: HTTPResponse)?
            var failure: any Error = CancellationError()
            while let event = await group.next() {
                switch event {
                case .late:
                    isHedged = group.addTaskUnlessCancelled { await Self.end(1, of: request, through: branches[1]) }
                    if isHedged { request.record(CallEvent("own.hedge", "a second exchange")) }
                case .ended(let place, .success(let response)) where winner == nil:
                    winner = (place, response)
                    group.cancelAll()
                case .ended(_, .success(let response)):
                    response.body.close()
                case .ended(0, .failure(let error)):
                    failure = error
                    if !isHedged { group.cancelAll() }
                case .ended(_, .failure):
                    // The first says what becomes of the call.
                    break
                }
            }
            guard let winner else { return .failure(failure) }
            branches[1 - winner.place].giveUp()
            return .success(winner.response)
        }
        return try result.get()
    }

    private static func end(
        _ place: Int, of request: HTTPRequest, through branch: Next<HTTPRequest, HTTPResponse>
    ) async -> Event {
        do { return .ended(place, .success(try await branch(request))) } catch { return .ended(place, .failure(error)) }
    }
}
