internal import MidstreamCore

/// The chunks of a body, each of which has to come within a time. Read by one task at a time.
final class TimedChunks: Sendable {
    /// Whose answer they are.
    let request: HTTPRequest
    private let body: HTTPBody
    private let limit: TimeLimit
    private let chunks: ChunkReader

    init(of response: HTTPResponse, within limit: Duration?, on clock: any Clock<Duration>) {
        (request, body) = (response.request, response.body)
        self.limit = TimeLimit(limit, on: clock)
        chunks = ChunkReader(body)
    }

    deinit { body.close() }

    /// The next chunk; nil at the end.
    ///
    /// - Throws: ``HTTPError/Code/timeout`` if none comes in time; the body's errors.
    func next() async throws -> [UInt8]? {
        try await limit.run { [request] limit in
            HTTPError(.timeout, "The server was silent for \(limit).", request: request, phase: .answered)
        } _: { [chunks] in
            try await chunks.next()
        } onLate: { [body] error in
            body.close(late: error)
        }
    }

    func close() { body.close() }
}
