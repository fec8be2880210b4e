package import Interception

extension Attempt {
    /// An error with the body of its response in memory, up to ``HTTPError/keptBody``, where the response would have been streamed: whoever
    /// catches it wants to know what the server has to say. Takes no longer than the attempt may.
    ///
    /// - Throws: `CancellationError`; ``HTTPError/Code/deadlineExceeded``.
    func withBody(_ error: any Error) async throws -> any Error {
        guard let failure = error as? HTTPError, !failure.hasEndedCall, let response = failure.response,
            response.body.bytes == nil
        else { return error }
        if response.status.code == 101 {
            // What comes over its connection is no answer, and may never end.
            giveUp(response)
            return withoutBody(error, shortfall: nil)
        }
        return try await next.position.withBody(of: response, in: failure)
    }

    /// The error of a streamed response that was given up for an attempt which perhaps isn't made after all: nobody can read its body any
    /// more, and the error says why.
    func withoutBody(
        _ error: any Error, shortfall: String? = "The response's body was given up for another attempt."
    ) -> any Error {
        guard let failure = error as? HTTPError, !failure.hasEndedCall, let response = failure.response,
            response.body.bytes == nil
        else { return error }
        var givenUp = response
        givenUp.metrics = response.metrics
        givenUp.body = .empty
        return failure.withResponse(givenUp, shortfall: shortfall)
    }
}

extension ChainPosition {
    /// An error with the body of its response in memory, up to ``HTTPError/keptBody``.
    ///
    /// Takes no longer than the time that is left, or ten seconds where that has no limit: nobody waits for the end of an error that has none.
    ///
    /// - Throws: `CancellationError`; ``HTTPError/Code/deadlineExceeded``.
    package func withBody(of response: HTTPResponse, in failure: HTTPError) async throws -> HTTPError {
        var position = self
        if due == .max { position.timeout = call?.due(in: .seconds(10)) ?? .max }
        let limited = position
        var covered = response
        limitBody(of: &covered)
        return try await failure.withBody(of: covered) {
            reasonToEnd
        } read: { body in
            try await limited.withinTimeLeft(phase: .answered) { _ in try await body.buffered(upTo: HTTPError.keptBody) }
        }
    }
}

extension HTTPError {
    /// The error with the body of its response in memory, up to ``HTTPError/keptBody``; a longer one is left as it is, still arriving, and the
    /// error says so.
    ///
    /// - Parameters:
    ///   - reasonToEnd: What is thrown in place of it when the body can't be read; nil: nothing.
    ///   - read: Buffers the body up to that limit, for as long as that may take.
    package func withBody(
        of response: HTTPResponse, reasonToEnd: () -> (any Error)?, read: (HTTPBody) async throws -> HTTPBody
    ) async throws -> HTTPError {
        var collected = response
        do {
            collected.body = try await read(response.body)
        } catch {
            if let reason = reasonToEnd() { throw reason }
            let reason = (error as? HTTPError)?.code.rawValue ?? "an error"
            collected.body = .broken(by: error)
            return withResponse(collected, shortfall: "The response's body couldn't be read: \(reason).")
        }
        guard collected.body.bytes != nil else {
            return withResponse(
                collected,
                shortfall: "The response's body is longer than the \(HTTPError.keptBody) bytes that are kept for an error; it is "
                    + "still to be read.")
        }
        collected.trailers = response.trailers
        collected.metrics = response.metrics
        return withResponse(collected, shortfall: nil)
    }
}
