internal import Interception

extension HTTPBody {
    /// The body with each chunk transformed, one after the other, while it is read.
    ///
    /// It is as replayable as this one; `transform` then runs anew for each reading. Closing it closes this one. Trailers and metrics pass
    /// through. The media type is dropped, since it is that of other bytes; set one with ``withContentType(_:)``. No body stays none.
    ///
    /// Where a transformation depends on the chunks before it, as compression does, read the body in a ``stream(length:_:)`` instead,
    /// whose iterator keeps the state of one reading.
    ///
    /// - Parameters:
    ///   - length: The number of bytes afterwards, when it is known. Unknown by default.
    ///   - transform: Makes a chunk of a chunk; an empty one is skipped. Called in the reader's task, whose cancellation reaches it. What it
    ///     throws ends the reading, and closes a body that is arriving.
    public func mapChunks(
        length: Int64? = nil, _ transform: @escaping @Sendable ([UInt8]) async throws -> [UInt8]
    ) -> HTTPBody {
        replacingChunks(length: length, contentType: nil) { body in
            var chunks = body.makeAsyncIterator()
            var failure: (any Error)?
            return ChunkIterator {
                // After an error there is nothing that could be left out unnoticed.
                if let failure { throw failure }
                do {
                    guard let chunk = try await chunks.next() else { return nil }
                    return try await transform(chunk)
                } catch {
                    failure = error
                    throw error
                }
            }
        } incoming: {
            MappedIncoming($0, transform)
        }
    }
}

/// A body that a transport is receiving, transformed.
private final class MappedIncoming: IncomingBody {
    private let source: any IncomingBody
    private let transform: @Sendable ([UInt8]) async throws -> [UInt8]
    private let failure = Locked<(any Error)?>(nil)

    init(_ source: any IncomingBody, _ transform: @escaping @Sendable ([UInt8]) async throws -> [UInt8]) {
        self.source = source
        self.transform = transform
    }

    func next() async throws -> [UInt8]? {
        // After an error, too, whose chunk is missing though the source may be at its end.
        if let failure = failure.withLock({ $0 }) { throw failure }
        guard let chunk = try await source.next() else { return nil }
        do {
            return try await transform(chunk)
        } catch {
            failure.withLock { $0 = error }
            source.close()
            throw error
        }
    }

    func close() { source.close() }
    var isSpent: Bool { source.isSpent }
    var trailers: HTTPHeaders? { source.trailers }
    var metrics: TransportMetrics? { source.metrics }
}
