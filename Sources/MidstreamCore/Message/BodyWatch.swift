internal import Interception

/// Tells an observer of one reading: its chunks, and then exactly one end. Its own release is an end as well, so whoever reads
/// holds it, and nobody else.
final class BodyWatch: Sendable {
    private struct State {
        var chunksBeingTold = 0
        var isOver = false
        /// The end that has come while a chunk was being told.
        var delayed: HTTPBody.End?
    }

    private let state = Locked(State())
    private let observer: HTTPBody.Observer

    init(_ observer: HTTPBody.Observer) { self.observer = observer }

    deinit { end(.released) }

    /// The next chunk of what is watched, told before it is returned.
    func next(
        _ advance: () async throws -> [UInt8]?, atEnd: () -> HTTPBody.End
    ) async throws -> [UInt8]? {
        let next: [UInt8]?
        do {
            next = try await advance()
        } catch {
            end(.failed(error))
            throw error
        }
        guard let next else {
            end(atEnd())
            return nil
        }
        if !next.isEmpty { tell(next) }
        return next
    }

    /// The chunks of a body that isn't arriving.
    func iterator(over body: HTTPBody) -> ChunkIterator {
        var chunks = body.makeAsyncIterator()
        return ChunkIterator {
            try await self.next {
                let chunk = try await chunks.next()
                // An `AsyncStream` whose reader is cancelled ends as if it were complete.
                if chunk == nil { try Task.checkCancellation() }
                return chunk
            } atEnd: {
                .complete(trailers: nil, metrics: nil)
            }
        }
    }

    /// Tells the end, unless there was one.
    func end(_ end: HTTPBody.End) {
        if let end = claim(end) { tell(end) }
    }

    /// Makes this the end: no chunk is told any more. Returns it to be told, unless there was another, or a chunk is being told just now,
    /// after which it follows.
    func claim(_ end: HTTPBody.End) -> HTTPBody.End? {
        state.withLock { state in
            if state.isOver { return nil }
            state.isOver = true
            if state.chunksBeingTold == 0 { return end }
            state.delayed = end
            return nil
        }
    }

    func tell(_ end: HTTPBody.End) { observer.onEnd(end) }

    private func tell(_ chunk: [UInt8]) {
        let isTold = state.withLock { state in
            if !state.isOver { state.chunksBeingTold += 1 }
            return !state.isOver
        }
        guard isTold else { return }
        observer.onChunk(chunk)
        let end = state.withLock { state -> HTTPBody.End? in
            state.chunksBeingTold -= 1
            guard state.chunksBeingTold == 0 else { return nil }
            defer { state.delayed = nil }
            return state.delayed
        }
        if let end { tell(end) }
    }
}

/// A body that a transport is receiving, watched. Its release is the watch's, and lets go of the source.
final class ObservedIncoming: IncomingBody {
    private let source: any IncomingBody
    private let watch: BodyWatch

    init(_ source: any IncomingBody, _ watch: BodyWatch) {
        self.source = source
        self.watch = watch
    }

    func next() async throws -> [UInt8]? {
        try await watch.next {
            try await source.next()
        } atEnd: {
            .complete(trailers: source.trailers, metrics: source.metrics)
        }
    }

    func close() {
        // Before the source, whose waiting reader is about to fail.
        let end = watch.claim(.closed)
        source.close()
        if let end { watch.tell(end) }
    }

    var isSpent: Bool { source.isSpent }
    var trailers: HTTPHeaders? { source.trailers }
    var metrics: TransportMetrics? { source.metrics }
}
