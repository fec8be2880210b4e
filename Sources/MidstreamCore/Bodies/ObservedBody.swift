internal import Interception

extension HTTPBody {
    /// How one reading of a body ended.
    public enum End: Sendable {
        // Indirect, since metrics are large and each task that reads an observed body has room for an end.
        /// It was read to its end. The fields after the body and the measurements are those of a body that was arriving; nil for
        /// any other, and when its transport knows none.
        indirect case complete(trailers: HTTPHeaders?, metrics: TransportMetrics?)
        /// Reading threw; `CancellationError` when the task that read was cancelled.
        case failed(any Error)
        /// ``HTTPBody/close()`` gave up what was still to come.
        case closed
        /// Nobody can read on: the body, or the iterator over it, was released unread or half-read.
        case released
    }

    /// Follows one reading of a body.
    package struct Observer: Sendable {
        let onChunk: @Sendable ([UInt8]) -> Void
        let onEnd: @Sendable (End) -> Void

        package init(
            onChunk: @escaping @Sendable ([UInt8]) -> Void, onEnd: @escaping @Sendable (End) -> Void = { _ in }
        ) {
            self.onChunk = onChunk
            self.onEnd = onEnd
        }
    }

    /// The same body, whose chunks and end are reported as it is read.
    ///
    /// Length, media type and replayability stay as they are, and closing it closes this one. For a body in memory it is a stream of pieces
    /// of 64 KiB, whose ``bytes`` are nil, since taking them wouldn't be noticed; ``observedOnArrival(onChunk:onEnd:)`` is for a
    /// response, which others expect to find in memory. A body of no bytes in memory stays as it is: its end is reported before this
    /// returns, and never again.
    ///
    /// The end is reported exactly once for each reading. A body that can be read once has one, which begins now: it ends as `released`
    /// if it is never read. One that is replayable has as many as it is iterated, and none when it isn't.
    ///
    /// - Parameters:
    ///   - onChunk: Called with each chunk, which is never empty, before the reader gets it; in the reader's task. The reader waits
    ///     for it, so it should be quick. Not called after the end, nor while `onEnd` is.
    ///   - onEnd: Called in the task that reads, or closes, or releases the body. Readings at the same time, as of a replayable body,
    ///     report at the same time.
    public func observed(
        onChunk: @escaping @Sendable ([UInt8]) -> Void, onEnd: @escaping @Sendable (End) -> Void
    ) -> HTTPBody {
        observed { Observer(onChunk: onChunk, onEnd: onEnd) }
    }

    /// The same body, reported as it arrives: a body in memory has arrived and is reported at once, as one chunk and its end, before this
    /// returns; the body then stays in memory. Any other is ``observed(onChunk:onEnd:)``.
    ///
    /// For interceptors that handle responses, which are in memory or still arriving as the caller wants it. The end of a body in memory
    /// is `complete` without trailers and metrics: they are the response's by then.
    ///
    /// - Parameters:
    ///   - onChunk: Called with each chunk, which is never empty, before the reader gets it.
    ///   - onEnd: Called exactly once for each reading, and once in all for a body in memory or arriving.
    public func observedOnArrival(
        onChunk: @escaping @Sendable ([UInt8]) -> Void, onEnd: @escaping @Sendable (End) -> Void
    ) -> HTTPBody {
        guard let bytes else { return observed(onChunk: onChunk, onEnd: onEnd) }
        if !bytes.isEmpty { onChunk(bytes) }
        onEnd(.complete(trailers: nil, metrics: nil))
        return self
    }

    /// ``observed(onChunk:onEnd:)`` with an observer for each reading, which can count or hash by itself.
    package func observed(_ observer: @escaping @Sendable () -> Observer) -> HTTPBody {
        if bytes?.isEmpty == true {
            observer().onEnd(.complete(trailers: nil, metrics: nil))
            return self
        }
        // A single reading takes the watch along, which ends with it, or with the body if it is never read.
        let seat = Locked<BodyWatch?>(replayability == .once ? BodyWatch(observer()) : nil)
        let watch: @Sendable () -> BodyWatch = { seat.withLock { $0.take() } ?? BodyWatch(observer()) }
        return replacingChunks(length: length, contentType: contentType) { body in
            watch().iterator(over: body)
        } incoming: {
            ObservedIncoming($0, watch())
        }
    }

    /// The body with other chunks: as replayable as it is, closed with it. No bytes in memory stay none.
    ///
    /// - Parameters:
    ///   - length: Looked up each time, as by ``FreshChunks``.
    ///   - isTransformed: Whether the chunks may have other bytes.
    func replacingChunks(
        length: @escaping @autoclosure @Sendable () -> Int64?, contentType: String?, isTransformed: Bool = false,
        _ chunks: @escaping @Sendable (HTTPBody) -> ChunkIterator, incoming: (any IncomingBody) -> any IncomingBody
    ) -> HTTPBody {
        if bytes?.isEmpty == true { return HTTPBody(.empty, contentType: contentType) }
        if let length = length(), length < 0 { return .ofNegative(length) }
        if flaw != nil { return HTTPBody(storage, contentType: contentType) }
        switch storage {
        case .empty, .bytes, .file, .stream:
            let isTransformed = isTransformed || self.isTransformed
            let made = FreshChunks(length: length(), isTransformed: isTransformed, closing: { close() }) { chunks(inPieces) }
            return HTTPBody(.stream(made), contentType: contentType)
        case .once:
            let made = OnceChunks(of: self, length: length(), isTransformed: isTransformed) { chunks(self) }
            return HTTPBody(.once(made), contentType: contentType)
        case .incoming(let arriving):
            return HTTPBody(
                .incoming(IncomingChunks(source: incoming(arriving.source), length: length())), contentType: contentType)
        }
    }

    /// The body for who follows its chunks: a long one in memory, which is one chunk to any other, couldn't be paced, or its progress shown.
    private var inPieces: HTTPBody {
        let size = 64 << 10
        guard case .bytes(let bytes) = storage, bytes.count > size else { return self }
        let pieces = FreshChunks(length: Int64(bytes.count)) {
            var rest = bytes[...]
            return ChunkIterator {
                let piece = rest.prefix(size)
                rest = rest.dropFirst(size)
                return piece.isEmpty ? nil : Array(piece)
            }
        }
        return HTTPBody(.stream(pieces))
    }
}
