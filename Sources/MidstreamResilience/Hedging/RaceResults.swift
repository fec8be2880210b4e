internal import Interception
internal import MidstreamCore

/// The result of one exchange of a race.
struct RaceResult: Sendable {
    let isSecond: Bool
    let result: Result<HTTPResponse, any Error>

    var response: HTTPResponse? { try? result.get() }

    /// Whether it ends the race: anything but a 5xx and a failure, and of the second exchange what the first may be the reason for.
    var isAcceptable: Bool {
        response.map { $0.status.code < 500 && !(isSecond && [409, 429].contains($0.status.code)) } ?? false
    }

    /// Why an interceptor further in has refused the request, so that nothing was sent; nil: none has.
    var refusal: HTTPError.Code? {
        guard case .failure(let error as HTTPError) = result else { return nil }
        return error.code.isRefusal || error.isRefusedHere && error.phase == .notSent ? error.code : nil
    }

    /// The better one: an acceptable response, any response, the failure of the first. Closes the other's body.
    static func better(_ a: RaceResult, _ b: RaceResult) -> RaceResult {
        let isBetter = (b.value, b.isSecond ? 0 : 1) > (a.value, a.isSecond ? 0 : 1)
        (isBetter ? a : b).response?.body.close()
        return isBetter ? b : a
    }

    private var value: Int { isAcceptable ? 2 : response == nil ? 0 : 1 }
}

/// The results of a race that weren't taken yet, for the task that waits for them.
struct RaceResults: Sendable {
    private struct State {
        var first: RaceResult?
        var second: RaceResult?
        var isSecondRefused = false
        var waiter: Suspension<Void>?

        var isEmpty: Bool { first == nil && second == nil }
    }

    private let state = Locked(State())

    func add(_ result: RaceResult) {
        let waiter = state.withLock { state in
            if result.isSecond {
                (state.second, state.isSecondRefused) = (result, result.refusal != nil)
            } else {
                state.first = result
            }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Whether the second exchange has ended unsent.
    var isSecondRefused: Bool { state.withLock { $0.isSecondRefused } }

    /// A result that is there, the first exchange's before the second's.
    func take() -> RaceResult? { state.withLock { $0.first.take() ?? $0.second.take() } }

    /// Waits for a result. A cancellation ends the exchanges, and so this.
    func next() async -> RaceResult {
        while true {
            if let result = take() { return result }
            if let arrival = arrival() { await arrival.value() }
        }
    }

    /// Waits for a result until a time is over or the task is cancelled, and says whether the time is over and none came.
    func isLate(after limit: Duration, on timer: ClockTimer) async -> Bool {
        guard let arrival = arrival(), case .timedOut = await arrival.wait(for: limit, on: timer) else { return false }
        return state.withLock { $0.isEmpty }
    }

    /// Ends with the next result; nil: there is one.
    private func arrival() -> Suspension<Void>? {
        state.withLock { state in
            guard state.isEmpty else { return nil }
            let arrival = Suspension<Void>()
            state.waiter = arrival
            return arrival
        }
    }
}
