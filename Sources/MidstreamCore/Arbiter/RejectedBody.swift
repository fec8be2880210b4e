internal import Interception

extension Attempt {
    /// An error with the body of its response in memory, up to ``HTTPError/keptBody``, where the response would have been streamed: whoever
    /// catches it wants to know what the server has to say.
    ///
    /// A longer body is left as it is, still arriving, and the error says so. Takes no longer than the attempt may, or ten seconds where
    /// that has no limit: nobody waits for the end of an error that has none.
    ///
    /// - Throws: `CancellationError`; ``HTTPError/Code/deadlineExceeded``.
    func withBody(_ error: any Error) async throws -> any Error {
        // One that was refused for its credential has been closed on purpose.
        guard let failure = error as? HTTPError, failure.code != .authentication, let response = failure.response,
            response.body.bytes == nil,
            response.request.id == request.id
        else { return error }
        var collected = response
        do {
            let body = response.body
            var position = next.position
            if position.due == .max { position.timeout = next.call?.due(in: .seconds(10)) ?? .max }
            collected.body = try await position.withinTimeLeft(phase: .answered) { _ in
                try await body.buffered(upTo: HTTPError.keptBody)
            }
        } catch {
            if let reason = next.position.reasonToEnd { throw reason }
            let reason = (error as? HTTPError)?.code.rawValue ?? "an error"
            return failure.withResponse(response, shortfall: "The response's body couldn't be read: \(reason).")
        }
        guard collected.body.bytes != nil else {
            return failure.withResponse(
                collected,
                shortfall: "The response's body is longer than the \(HTTPError.keptBody) bytes that are kept for an error; it is "
                    + "still to be read.")
        }
        collected.trailers = response.trailers
        collected.metrics = response.metrics
        return failure.withResponse(collected, shortfall: nil)
    }
}
