internal import Interception
internal import MidstreamCore

/// The chunks of a body, of which one can be read ahead to see whether the source has one or waits. Read by one task at a time.
final class ChunksAhead: Sendable {
    private typealias Reading = Task<[UInt8]?, any Error>

    private let source: Source
    private let reading = Locked<Reading?>(nil)

    init(_ body: HTTPBody) { source = Source(body) }

    deinit { reading.withLock { $0 }?.cancel() }

    /// The next chunk; nil at the end.
    func next() async throws -> [UInt8]? {
        guard let reading = reading.withLock({ $0 }) else { return try await source.read() }
        defer { self.reading.withLock { $0 = nil } }
        return try await withTaskCancellationHandler {
            try await reading.value
        } onCancel: {
            reading.cancel()
        }
    }

    /// Whether the next chunk, or the end, is there or comes at once.
    func hasNext() async -> Bool {
        source.expectChunk()
        reading.withLock { $0 = Reading { [source] in try await source.read() } }
        // So that the task that reads gets its turn.
        for _ in 0..<3 where !source.hasChunk { await Task.yield() }
        return source.hasChunk
    }
}

/// What the task that reads holds on to; not its owner, whose end cancels it.
private final class Source: Sendable {
    /// Taken out while it is read.
    private let chunks: Locked<HTTPBody.AsyncIterator?>
    private let arrived = Locked(false)

    init(_ body: HTTPBody) { chunks = Locked(body.makeAsyncIterator()) }

    var hasChunk: Bool { arrived.withLock { $0 } }

    func expectChunk() { arrived.withLock { $0 = false } }

    func read() async throws -> [UInt8]? {
        defer { arrived.withLock { $0 = true } }
        var reader = chunks.withLock { chunks in
            defer { chunks = nil }
            return chunks
        }
        defer { chunks.withLock { $0 = reader } }
        return try await reader?.next()
    }
}
