internal import Interception

extension HTTPBody {
    /// The first bytes, and a body that yields everything from the beginning, these bytes included.
    ///
    /// Length, media type and replayability stay as they are. A body that is replayable is read for this and started again afterwards; of any
    /// other this reads the one reading it has, so use the returned body from here on. That holds what was read in memory: `count`
    /// bytes and what came with them in the last chunk.
    ///
    /// - Parameter count: How many bytes; none if it is negative. The prefix has fewer only when the body has.
    /// - Throws: What the source throws before there are as many, ``HTTPError/Code/bodyNotReplayable`` when it could be read once and was,
    ///   `CancellationError`. In each case a body that is still arriving is closed.
    public func prefix(upTo count: Int) async throws -> (prefix: [UInt8], body: HTTPBody) {
        if let bytes { return (Array(bytes.prefix(Swift.max(0, count))), self) }
        guard count > 0 else { return ([], self) }
        let start = try await BodyStart.read(from: self) { $0 >= count }
        return (Array(start.chunks.joined().prefix(count)), start.whole(self))
    }

    /// The body in memory if it is no longer than the limit; otherwise one that yields everything from the beginning.
    ///
    /// The media type stays. A body in memory stays there, however long it is, and one that is known to be longer isn't read. For any other
    /// see ``prefix(upTo:)``: use the returned body from here on. Trailers and metrics of an arriving body aren't part of a body in
    /// memory; after this ``HTTPResponse/trailers`` and ``HTTPResponse/metrics`` are known through the response as it was before, so an
    /// interceptor that replaces the body should copy them.
    ///
    /// - Parameter limit: The number of bytes that may be taken into memory; the last chunk may exceed it.
    /// - Throws: What the source throws within the limit, ``HTTPError/Code/bodyNotReplayable`` when it could be read once and was,
    ///   `CancellationError`. In each case a body that is still arriving is closed.
    public func buffered(upTo limit: Int) async throws -> HTTPBody {
        if bytes != nil { return self }
        if let length, length > limit { return self }
        let start = try await BodyStart.read(from: self) { $0 > limit }
        guard start.isAll else { return start.whole(self) }
        let all = HTTPBody.bytes(start.chunks.count == 1 ? start.chunks[0] : Array(start.chunks.joined()))
        return HTTPBody(all.storage, contentType: contentType)
    }
}

/// The chunks read of a body, and how to read on.
private struct BodyStart {
    let chunks: [[UInt8]]
    /// Whether the body has no more than these.
    let isAll: Bool
    private let rest: Locked<HTTPBody.AsyncIterator?>

    /// Reads until the number of bytes is enough, or there are no more.
    static func read(from body: HTTPBody, isEnough: (Int) -> Bool) async throws -> BodyStart {
        do {
            var iterator = body.makeAsyncIterator()
            var chunks: [[UInt8]] = []
            var count = 0
            while !isEnough(count) {
                guard let chunk = try await iterator.next() else {
                    return BodyStart(chunks: chunks, isAll: true, rest: Locked(nil))
                }
                chunks.append(chunk)
                count += chunk.count
            }
            return BodyStart(chunks: chunks, isAll: false, rest: Locked(iterator))
        } catch {
            body.close()
            throw error
        }
    }

    /// The body that begins like this.
    func whole(_ body: HTTPBody) -> HTTPBody {
        switch body.storage {
        case .empty, .bytes, .file, .stream: return body
        case .once:
            let once = OnceChunks(continuing: body, length: body.length) { [self] in
                var start = chunks.makeIterator()
                // Taken out, so that it is released with the reading and not with the body.
                var rest = rest.withLock { $0.take() }
                return ChunkIterator {
                    if let chunk = start.next() { return chunk }
                    return try await rest?.next()
                }
            }
            return HTTPBody(.once(once), contentType: body.contentType)
        case .incoming(let arriving):
            let incoming = RewoundIncoming(chunks, isAll: isAll, before: arriving.source)
            return HTTPBody(
                .incoming(IncomingChunks(source: incoming, length: arriving.length)), contentType: body.contentType)
        }
    }
}

/// An arriving body, with the chunks that were read before.
private final class RewoundIncoming: WrappingBody {
    private struct State {
        var start: ArraySlice<[UInt8]>
        var isSpent = false
        var isAtEnd = false
        var failure: (any Error)?
    }

    let source: any IncomingBody
    private let isAll: Bool
    private let state: Locked<State>

    init(_ start: [[UInt8]], isAll: Bool, before source: any IncomingBody) {
        self.source = source
        self.isAll = isAll
        state = Locked(State(start: start[...]))
    }

    func next() async throws -> [UInt8]? {
        // Chunks in memory don't wait, so cancellation is checked here; the source checks it by itself.
        if Task.isCancelled, giveUp(CancellationError()) { source.close() }
        let chunk = try state.withLock { state in
            state.isSpent = true
            if let failure = state.failure { throw failure }
            if state.isAtEnd { throw HTTPError.alreadyRead() }
            state.isAtEnd = isAll && state.start.isEmpty
            return state.start.popFirst()
        }
        if let chunk { return chunk }
        return isAll ? nil : try await source.next()
    }

    func close() {
        giveUp(HTTPError.bodyClosed())
        source.close()
    }

    func close(late error: HTTPError) {
        giveUp(error)
        source.close(late: error)
    }

    /// Drops the rest of the start. Without effect after the start, when the source decides.
    @discardableResult
    private func giveUp(_ error: any Error) -> Bool {
        state.withLock { state in
            guard state.failure == nil, !state.isAtEnd, isAll || !state.start.isEmpty else { return false }
            state.failure = error
            state.start = []
            return true
        }
    }

    var isSpent: Bool { state.withLock { $0.isSpent } }
}
