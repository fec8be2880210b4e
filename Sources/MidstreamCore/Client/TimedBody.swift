internal import Interception

/// A streamed body that has to be read before its call's deadline.
final class TimedBody: IncomingBody {
    private let body: HTTPBody
    private let deadline: Duration
    private let stopwatch: Stopwatch
    /// Taken out while somebody reads, which a task does that keeps the time.
    private let chunks: Locked<HTTPBody.AsyncIterator?>

    /// - Parameters:
    ///   - deadline: When its time is over, on the call's stopwatch.
    init(_ body: HTTPBody, within deadline: Duration, of stopwatch: Stopwatch) {
        self.body = body
        self.deadline = deadline
        self.stopwatch = stopwatch
        chunks = Locked(body.makeAsyncIterator())
    }

    func next() async throws -> [UInt8]? {
        let ending = await TimedWork.run(until: deadline, of: stopwatch) { try await self.read() }
        // A chunk that comes while its reader is cancelled is lost, and what follows must not pass for all of it.
        if case .success(let chunk) = ending.result, !ending.isLate { return chunk }
        body.close()
        guard ending.isLate else { return try ending.result.get() }
        throw HTTPError(
            .deadlineExceeded, "The call took longer than \(deadline), its body included.", phase: .answered)
    }

    private func read() async throws -> [UInt8]? {
        var reader = chunks.withLock { chunks in
            defer { chunks = nil }
            return chunks
        }
        defer { chunks.withLock { $0 = reader } }
        return try await reader?.next()
    }

    func close() { body.close() }
    var isSpent: Bool { body.isSpent }
    var trailers: HTTPHeaders? { body.incoming?.trailers }
    var metrics: TransportMetrics? { body.incoming?.metrics }
}
