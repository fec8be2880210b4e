internal import Interception

extension HTTPBody {
    /// The body with each chunk transformed, one after the other, while it is read. One in memory is transformed in pieces of 64 KiB.
    ///
    /// It is as replayable as this one; `transform` then runs anew for each reading. Closing it closes this one. Trailers and metrics pass
    /// through. The media type is dropped, since it is that of other bytes; set one with ``withContentType(_:)``. No body stays none. Without
    /// a `length`, reading fails with ``HTTPError/Code/bodyUnreadable`` where a stream isn't as long as it was said to be, or a file
    /// is cut while it is read.
    ///
    /// Where a transformation depends on the chunks before it, as compression does, read the body in a ``stream(length:_:)`` instead,
    /// whose iterator keeps the state of one reading.
    ///
    /// - Parameters:
    ///   - length: The number of bytes afterwards, when it is known; unknown by default. With a negative one reading and sending fail with
    ///     ``HTTPError/Code/bodyUnreadable``.
    ///   - transform: Makes a chunk of a chunk; an empty one is skipped. Called in the reader's task, whose cancellation reaches it. What it
    ///     throws ends the reading, and closes a body that is arriving.
    public func mapChunks(
        length: Int64? = nil, _ transform: @escaping @Sendable ([UInt8]) async throws -> [UInt8]
    ) -> HTTPBody {
        transformed(length: length, contentType: nil, isTransformed: true) { ChunkTransform(onChunk: transform) { _ in } }
    }

    /// A body whose readings are transformed, each by a transform of its own that begins with the first chunk or the end. An error is
    /// thrown again by each further read, and closes a body that is arriving.
    func transformed(
        length: Int64?, contentType: String?, isTransformed: Bool = false,
        _ begin: @escaping @Sendable () throws -> ChunkTransform
    ) -> HTTPBody {
        replacingChunks(length: length, contentType: contentType, isTransformed: isTransformed) { body in
            var chunks = body.makeAsyncIterator()
            // Where the length is dropped nobody else compares it. That of a file isn't announced, and it may have grown.
            var left = length == nil && body.filePath == nil ? body.length : nil
            var reading = TransformedReading(begin)
            return ChunkIterator {
                try await reading.next {
                    let chunk = try await chunks.next()
                    left = left.map { $0 - Int64(chunk?.count ?? 0) }
                    if chunk == nil, left ?? 0 != 0 { throw HTTPError(.bodyUnreadable, "The body isn't as long as announced.") }
                    return chunk
                } trailers: {
                    nil
                }
            }
        } incoming: {
            TransformedIncoming($0, begin)
        }
    }
}

/// Transforms the chunks of one reading, and may refuse its end.
struct ChunkTransform {
    let onChunk: ([UInt8]) async throws -> [UInt8]
    let atEnd: (HTTPHeaders?) throws -> Void
}

/// One reading, and its transform.
private struct TransformedReading {
    private let begin: () throws -> ChunkTransform
    private var transform: ChunkTransform?
    private var failure: (any Error)?
    private var isAtEnd = false
    /// Whether another chunk was made of one.
    private(set) var hasChanged = false

    init(_ begin: @escaping () throws -> ChunkTransform) { self.begin = begin }

    mutating func next(_ advance: () async throws -> [UInt8]?, trailers: () -> HTTPHeaders?) async throws -> [UInt8]? {
        if let failure { throw failure }
        let chunk = try await advance()
        guard !isAtEnd else { return chunk }
        do {
            let transform = try transform ?? begin()
            self.transform = transform
            if let chunk {
                let made = try await transform.onChunk(chunk)
                hasChanged = hasChanged || made != chunk
                return made
            }
            isAtEnd = true
            try transform.atEnd(trailers())
            return nil
        } catch {
            failure = error
            throw error
        }
    }
}

/// A body that a transport is receiving, transformed.
private final class TransformedIncoming: WrappingBody {
    let source: any IncomingBody
    /// Taken out while somebody reads.
    private let reading: Locked<TransformedReading?>
    private let hasChanged = Locked(false)

    init(_ source: any IncomingBody, _ begin: @escaping @Sendable () throws -> ChunkTransform) {
        self.source = source
        reading = Locked(TransformedReading(begin))
    }

    func next() async throws -> [UInt8]? {
        guard var taken = reading.withLock({ $0.take() }) else { throw HTTPError.beingRead() }
        defer {
            if taken.hasChanged { hasChanged.withLock { $0 = true } }
            reading.withLock { $0 = taken }
        }
        do {
            return try await taken.next {
                try await source.next()
            } trailers: {
                source.trailers
            }
        } catch {
            source.close()
            throw error
        }
    }

    var isTransformed: Bool { hasChanged.withLock { $0 } || source.isTransformed }
}
