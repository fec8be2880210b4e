package import Interception

extension ChainPosition {
    /// The call that the run belongs to.
    package var call: Call? { run as? Call }

    /// How much time what lies further in has left, zero or less when it is over; nil: no limit.
    package var timeLeft: Duration? {
        guard due < Duration.longestNanoseconds, let call else { return nil }
        return .nanoseconds(due - call.stopwatch.elapsedNanoseconds)
    }

    /// Takes the body of a response into memory, if that is how the call wants it and it isn't there yet.
    ///
    /// - Throws: What ``HTTPBody/collect(upTo:)`` throws; ``HTTPError/Code/timeout`` when the attempt's time is over before its end.
    package func deliver(_ response: inout HTTPResponse) async throws {
        guard response.body.bytes == nil, let call, case .buffered(let limit) = call.delivery else { return }
        guard let timeLeft else { return try await response.buffer(upTo: limit) }
        let arriving = response
        response = try await TimeLimit(timeLeft, on: call.stopwatch.clock).run(error: { _ in .timedOut(phase: .answered) }) {
            var response = arriving
            try await response.buffer(upTo: limit)
            return response
        }
    }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// The call that the run belongs to; nil outside a client's pipeline.
    package var call: Call? { position.call }

    /// Whether that call, if there is one, goes by the system's clock.
    package var isOnSystemClock: Bool { position.call?.stopwatch.isOnSystemClock ?? true }

    /// The rest of the pipeline as another branch of the call, with a limit of its own on how long it may take.
    package func branching(to call: Call?, due: Int64) -> Self {
        var next = self
        next.position = ChainPosition(run: call ?? position.run, pass: position.pass, due: due)
        return next
    }
}
