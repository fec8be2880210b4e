public import MidstreamCore

/// Which asking of a task this is, of how many.
struct Repetition: Sendable {
    /// 1 for the first, which is no repetition.
    let number: Int
    let limit: Int
}

/// Says in the trace of a call that it is a repetition, when it may itself be repeated: the two multiply.
struct RepetitionNote: RequestInterceptor {
    let repetition: Repetition
    let retries: Int

    var stage: InterceptorStage { .call }

    func intercept(request: inout HTTPRequest) async throws {
        request.note(
            "asked again, \(repetition.number - 1) of at most \(repetition.limit) times, with up to \(retries) retries each time")
    }
}

extension RequestTask {
    /// Asks the task again when it fails or its result is rejected.
    ///
    /// ```swift
    /// client.get("news").decode(News.self).askAgain(2, delay: { .seconds($0) })
    /// ```
    ///
    /// It repeats everything before it, decoding too, by calls of their own, which have the login of that moment. To repeat only the request, as the client's validators see fit and with `Retry-After`
    /// honoured, use ``DataTask/retries(_:)``. Where both are used they multiply, which the traces of the repeated calls show.
    ///
    /// - Parameters:
    ///   - limit: How many times at most; less than 1: none.
    ///   - delay: How long to wait before the retry of this number, 1 for the first; no time by default. A cancellation ends the wait.
    ///   - clock: The clock of the delay; the system's by default.
    ///   - condition: Which errors are worth another try. By default those that may pass by themselves
    ///     (``HTTPError/isTransient``), of requests that may be sent twice. Not called for a cancellation.
    public func askAgain(
        _ limit: Int, delay: @escaping @Sendable (_ retry: Int) -> Duration = { _ in .zero },
        clock: any Clock<Duration> = ContinuousClock(),
        when condition: @escaping @Sendable (any Error) -> Bool = { ($0 as? HTTPError)?.isTransient == true }
    ) -> AnyRequestTask<Element> {
        AnyRequestTask {
            var retry = 1
            while true {
                do {
                    let repetition = Repetition(number: retry, limit: limit)
                    let result = try await self.changingEnvironment { $0.requestTerms.repetition = repetition }.result()
                    guard retry <= limit, let rejection = (result as? any Rejectable)?.rejection, condition(rejection) else {
                        return result
                    }
                } catch {
                    guard retry <= limit, !(error is CancellationError), condition(error) else { throw error }
                }
                let pause = delay(retry)
                if pause > .zero { try await clock.pause(for: pause) } else { try Task.checkCancellation() }
                retry += 1
            }
        }
    }
}

extension RequestTask {
    /// Has been renamed, since it was taken for ``DataTask/retries(_:)``.
    @available(*, unavailable, renamed: "askAgain(_:delay:clock:when:)")
    public func retry(
        _ limit: Int, delay: @escaping @Sendable (_ retry: Int) -> Duration = { _ in .zero },
        clock: any Clock<Duration> = ContinuousClock(),
        when condition: @escaping @Sendable (any Error) -> Bool = { ($0 as? HTTPError)?.isTransient == true }
    ) -> AnyRequestTask<Element> {
        askAgain(limit, delay: delay, clock: clock, when: condition)
    }
}
