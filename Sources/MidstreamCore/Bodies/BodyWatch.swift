internal import Interception

/// Passes the chunks of one reading to an observer, and then exactly one end. Its own release is an end as well, so only the reader
/// holds it.
final class BodyWatch: Sendable {
    private struct State {
        var activeChunks = 0
        var isOver = false
        /// The end that came while the observer had a chunk.
        var delayed: HTTPBody.End?
    }

    private let state = Locked(State())
    private let observer: HTTPBody.Observer

    init(_ observer: HTTPBody.Observer) { self.observer = observer }

    deinit { end(.released) }

    /// The next chunk, which the observer gets before the reader.
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
        if !next.isEmpty { report(next) }
        return next
    }

    /// The chunks of a body that isn't arriving.
    func iterator(over body: HTTPBody) -> ChunkIterator {
        var chunks = body.makeAsyncIterator()
        return ChunkIterator {
            try await self.next {
                try await chunks.next()
            } atEnd: {
                .complete(trailers: nil, metrics: nil)
            }
        }
    }

    /// Reports the end, unless there was one.
    func end(_ end: HTTPBody.End) {
        if let end = claim(end) { report(end) }
    }

    /// Makes this the end, after which no chunk is reported. Returns it to be reported, unless there was one before, or the observer has a
    /// chunk just now, whose report it follows.
    func claim(_ end: HTTPBody.End) -> HTTPBody.End? {
        state.withLock { state in
            if state.isOver { return nil }
            state.isOver = true
            if state.activeChunks == 0 { return end }
            state.delayed = end
            return nil
        }
    }

    func report(_ end: HTTPBody.End) { observer.onEnd(end) }

    func report(_ chunk: [UInt8]) {
        let isOpen = state.withLock { state in
            if !state.isOver { state.activeChunks += 1 }
            return !state.isOver
        }
        guard isOpen else { return }
        observer.onChunk(chunk)
        let end = state.withLock { state -> HTTPBody.End? in
            state.activeChunks -= 1
            guard state.activeChunks == 0 else { return nil }
            return state.delayed.take()
        }
        if let end { report(end) }
    }
}

/// An arriving body, watched. Its release releases the watch and the source.
final class ObservedIncoming: ReadyBody, WrappingBody {
    let source: any IncomingBody
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

    func takeAll() -> [UInt8]? {
        guard let bytes = (source as? any ReadyBody)?.takeAll() else { return nil }
        if !bytes.isEmpty { watch.report(bytes) }
        watch.end(.complete(trailers: source.trailers, metrics: source.metrics))
        return bytes
    }

    func close() { end(.closed) { source.close() } }
    func close(late error: HTTPError) { end(.failed(error)) { source.close(late: error) } }

    private func end(_ end: HTTPBody.End, byClosing closeSource: () -> Void) {
        // Before the source, whose waiting reader is about to fail.
        let end = watch.claim(end)
        closeSource()
        if let end { watch.report(end) }
    }
}
