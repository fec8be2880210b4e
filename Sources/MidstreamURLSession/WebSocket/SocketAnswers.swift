internal import Interception

/// Those who wait for what the system answers about a socket. When the connection is lost it may forget them, and tell only that the socket is
/// over.
final class SocketAnswers: Sendable {
    /// A message, or nil where something was only to be done.
    typealias Answer = Suspension<Result<SocketMessage?, any Error>>

    private struct State {
        var waiting: [Answer] = []
        /// Why nothing is answered any more.
        var end: (any Error)?
    }

    private let state = Locked(State())

    /// Asks, and waits for the answer or the end; once that has come, nobody is asked.
    func wait(for ask: (Answer) -> Void) async throws -> SocketMessage? {
        let answer = Answer()
        try state.withLock { state in
            if let end = state.end { throw end }
            state.waiting.append(answer)
        }
        defer { state.withLock { $0.waiting.removeAll { $0 == answer } } }
        ask(answer)
        return try await answer.value().get()
    }

    /// Fails whoever waits, or will.
    func end(_ error: any Error) {
        let waiting = state.withLock { state in
            state.end = error
            defer { state.waiting = [] }
            return state.waiting
        }
        for answer in waiting { answer.resume(.failure(error)) }
    }
}

extension SocketAnswers.Answer {
    /// It is done, unless there is an error.
    func finish(_ error: (any Error)?) { resume(error.map { .failure($0) } ?? .success(nil)) }
}
