internal import Interception
internal import MidstreamCore

/// Reads the chunks of a body one at a time. Whoever reads has the iterator to itself and puts it back afterwards.
final class ChunkReader: Sendable {
    private let iterator: Locked<HTTPBody.AsyncIterator?>

    init(_ body: HTTPBody) { iterator = Locked(body.makeAsyncIterator()) }

    func next() async throws -> [UInt8]? {
        guard var current = iterator.withLock({ $0.take() }) else { return nil }
        let chunk = try await current.next()
        iterator.withLock { $0 = current }
        return chunk
    }
}
