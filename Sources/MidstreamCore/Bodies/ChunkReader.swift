internal import Interception

/// Reads the chunks of a body one at a time, also in a task other than the one before.
package final class ChunkReader: Sendable {
    /// Taken out during a read.
    private let iterator: Locked<HTTPBody.AsyncIterator?>

    package init(_ body: HTTPBody) { iterator = Locked(body.makeAsyncIterator()) }

    /// The next chunk; nil at the end.
    package func next() async throws -> [UInt8]? {
        guard var current = iterator.withLock({ $0.take() }) else { throw HTTPError.beingRead() }
        defer { iterator.withLock { $0 = current } }
        return try await current.next()
    }
}
