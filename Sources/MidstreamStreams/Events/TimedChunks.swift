internal import Interception
internal import MidstreamCore

/// The chunks of a body, each of which has to come within a time. Read by one task at a time.
final class TimedChunks: Sendable {
    private let body: HTTPBody
    private let limit: Duration?
    private let clock: any Clock<Duration>
    /// Taken out while somebody reads, which may be a task that keeps the time.
    private let chunks: Locked<HTTPBody.AsyncIterator?>

    init(_ body: HTTPBody, within limit: Duration?, on clock: any Clock<Duration>) {
        self.body = body
        self.limit = limit
        self.clock = clock
        chunks = Locked(body.makeAsyncIterator())
    }

    deinit { body.close() }

    /// The next chunk; nil at the end.
    ///
    /// - Throws: ``HTTPError/Code/timeout`` when none comes in time; what the body throws.
    func next() async throws -> [UInt8]? {
        try await TimeLimit(limit, on: clock).run { limit in
            HTTPError(.timeout, "The server was silent for \(limit).", phase: .answered)
        } _: { [self] in
            try await read()
        }
    }

    func close() { body.close() }

    private func read() async throws -> [UInt8]? {
        var reader = chunks.withLock { chunks in
            defer { chunks = nil }
            return chunks
        }
        let chunk = try await reader?.next()
        chunks.withLock { $0 = reader }
        return chunk
    }
}
