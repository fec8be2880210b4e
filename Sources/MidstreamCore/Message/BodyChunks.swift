package import Interception

extension HTTPBody: AsyncSequence {
    /// Reads the chunks of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var chunks: ChunkIterator
        /// Read without leaving the caller's actor.
        private let arriving: IncomingChunks?
        /// The end has been read: asking a source again would be a second reading.
        private var isOver = false

        init(_ chunks: ChunkIterator, arriving: IncomingChunks? = nil) {
            self.chunks = chunks
            self.arriving = arriving
        }

        /// The next chunk, or nil at the end, as often as it is asked for.
        ///
        /// - Throws: What the source throws: for a response body an ``HTTPError`` of the transport or `CancellationError`,
        ///   ``HTTPError/Code/bodyNotReplayable`` when the body could be read once and was, or another task waits for a chunk of one that
        ///   is arriving.
        public mutating func next() async throws -> [UInt8]? {
            while !isOver {
                let chunk = try await chunks.next()
                isOver = chunk == nil
                if let chunk, !chunk.isEmpty { return chunk }
            }
            return nil
        }

        /// The same in the caller's isolation, as `for try await` calls it: reading a chunk that has arrived doesn't leave the actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
            guard let arriving else {
                // The iterator is exclusive to this call until it returns.
                nonisolated(unsafe) var iterator = self
                defer { self = iterator }
                return try await iterator.next()
            }
            while !isOver {
                let chunk = try await arriving.next()
                isOver = chunk == nil
                if let chunk, !chunk.isEmpty { return chunk }
            }
            return nil
        }
    }

    /// Starts reading. A body that can be read once is claimed by it.
    public func makeAsyncIterator() -> AsyncIterator {
        switch storage {
        case .empty: AsyncIterator(ChunkIterator { nil })
        case .bytes(let bytes): AsyncIterator(.single(bytes))
        case .file(let path): AsyncIterator(FileChunks.iterator(forFileAt: path))
        case .stream(let chunks): AsyncIterator(chunks.make())
        case .once(let chunks): AsyncIterator(chunks.claim())
        case .incoming(let chunks): AsyncIterator(ChunkIterator { try await chunks.next() }, arriving: chunks)
        }
    }

    /// The body for a reader of what isn't divided as the chunks are, such as lines. Whoever has read some of an arriving body has the beginning
    /// of what follows in the last chunk, and reading on would lose that unnoticed. So that fails, as where all was read, and closes nothing:
    /// the body is the other reader's.
    package var fromStart: HTTPBody {
        guard case .incoming(let chunks) = storage, chunks.source.isSpent else { return self }
        return HTTPBody(.stream(FreshChunks(length: nil) { .failing(.alreadyRead()) }))
    }
}

/// An iterator over chunks with the type of its sequence erased.
struct ChunkIterator {
    private let advance: () async throws -> [UInt8]?

    init(_ advance: @escaping () async throws -> [UInt8]?) { self.advance = advance }

    init<S: AsyncSequence>(_ sequence: S) where S.Element == [UInt8] {
        var iterator = sequence.makeAsyncIterator()
        advance = {
            let chunk = try await iterator.next()
            // An `AsyncStream` whose reader is cancelled ends as if it were complete.
            if chunk == nil { try Task.checkCancellation() }
            return chunk
        }
    }

    static func single(_ bytes: [UInt8]) -> ChunkIterator {
        var remaining: [UInt8]? = bytes
        return ChunkIterator { remaining.take() }
    }

    static func failing(_ error: HTTPError) -> ChunkIterator { ChunkIterator { throw error } }

    func next() async throws -> [UInt8]? { try await advance() }
}

/// Chunks that are made anew for each reading.
final class FreshChunks: Sendable {
    private let measure: @Sendable () -> Int64?
    let make: @Sendable () -> ChunkIterator
    /// Closes the source of the chunks.
    let close: @Sendable () -> Void
    /// Why they can't be sent, where that was known when they were made.
    let flaw: HTTPError?
    let isTransformed: Bool

    /// - Parameter length: Looked up each time, since a file may grow until it is sent.
    init(
        length: @escaping @autoclosure @Sendable () -> Int64?, isTransformed: Bool = false,
        closing close: @escaping @Sendable () -> Void = {},
        _ make: @escaping @Sendable () -> ChunkIterator
    ) {
        measure = length
        self.make = make
        self.close = close
        self.isTransformed = isTransformed
        flaw = nil
    }

    /// Chunks whose reading fails.
    init(_ flaw: HTTPError) {
        self.flaw = flaw
        isTransformed = false
        measure = { nil }
        make = { .failing(flaw) }
        close = {}
    }

    var length: Int64? { measure() }
}

/// Chunks that are arriving, for one reader at a time.
struct IncomingChunks: Sendable {
    private struct State {
        let source: any IncomingBody
        let length: Int64?
        /// Whether somebody waits for a chunk.
        var isBeingRead = false
    }

    /// All in one, since a lock of its own would be another allocation for each streamed response.
    private let state: Locked<State>

    /// - Parameter length: A negative one is what Foundation has for a length that isn't known.
    init(source: any IncomingBody, length: Int64?) {
        state = Locked(State(source: source, length: length.flatMap { $0 < 0 ? nil : $0 }))
    }

    var source: any IncomingBody { state.withLock { $0.source } }
    var length: Int64? { state.withLock { $0.length } }

    /// The next chunk. Who comes while another waits is sent away before the source, which knows one reader: those who watch the body would take
    /// the error that the second one got there for the end of the reading.
    nonisolated(nonsending) func next() async throws -> [UInt8]? {
        let source = try state.withLock { state in
            if state.isBeingRead { throw HTTPError.beingRead() }
            state.isBeingRead = true
            return state.source
        }
        defer { state.withLock { $0.isBeingRead = false } }
        return try await source.next()
    }
}

/// Chunks that can be handed out a single time.
final class OnceChunks: Sendable {
    let length: Int64?
    let isTransformed: Bool
    /// Makes the chunks; nil once they were handed out.
    private let make: Locked<(@Sendable () -> ChunkIterator)?>
    private let original: HTTPBody?
    /// The body that is closed with this one.
    private let source: HTTPBody?

    /// - Parameters:
    ///   - original: The body that the chunks are read from. Once it is read, this one can't be.
    ///   - begun: The same, when its reading has begun and goes on in this one.
    init(
        of original: HTTPBody? = nil, continuing begun: HTTPBody? = nil, length: Int64?, isTransformed: Bool = false,
        _ make: @escaping @Sendable () -> ChunkIterator
    ) {
        self.length = length
        self.isTransformed = isTransformed || (original ?? begun)?.isTransformed == true
        self.original = original
        source = original ?? begun
        self.make = Locked(make)
    }

    var isClaimed: Bool { make.withLock { $0 == nil } || original?.isSpent == true }

    func claim() -> ChunkIterator { make.withLock { $0.take() }?() ?? .failing(.alreadyRead(phase: .notSent)) }

    /// Releases unread chunks, and closes the body that they are read from.
    func close() {
        // Released outside of the lock.
        _ = make.withLock { make in
            defer { if make != nil { make = { .failing(.bodyClosed()) } } }
            return make
        }
        source?.close()
    }
}

/// A body that a transport is receiving, one chunk after the other.
///
/// Written by transports, read by ``HTTPBody``. All members may be called from any thread.
package protocol IncomingBody: AnyObject, Sendable {
    /// The next chunk, or nil at the end, and ``HTTPError/alreadyRead(phase:)`` behind it: a whole that was read isn't empty. Reacts to the
    /// cancellation of the task that waits by throwing `CancellationError` and giving up the transfer. Called in the isolation of the task
    /// that reads.
    nonisolated(nonsending) func next() async throws -> [UInt8]?
    /// Gives up the rest. Harmless after the end and when repeated. A transport also does so when the object is released.
    func close()
    /// The same because the time of who waits for a chunk is over, whom the error is for. A transport whose connections are shared sends
    /// nothing further over this one, which may be dead.
    func close(late error: HTTPError)
    /// Whether reading has begun.
    var isSpent: Bool { get }
    /// Whether a transformation has made other bytes of those that came.
    var isTransformed: Bool { get }
    /// The fields after the body (RFC 9110 §6.5), once the end has been read.
    var trailers: HTTPHeaders? { get }
    /// The transport's measurements, once the end has been read.
    var metrics: TransportMetrics? { get }
    /// Where chunks arrive: a task that does little more than take them is best there. Nil: anywhere, or whoever made the body may not be held
    /// up by such a task.
    var arrivals: CallersExecutor? { get }
}

/// An arriving body that is another one on its way. What it doesn't change passes through.
package protocol WrappingBody: IncomingBody {
    var source: any IncomingBody { get }
}

extension WrappingBody {
    package func close() { source.close() }
    package func close(late error: HTTPError) { source.close(late: error) }
    package var isSpent: Bool { source.isSpent }
    package var isTransformed: Bool { source.isTransformed }
    package var trailers: HTTPHeaders? { source.trailers }
    package var metrics: TransportMetrics? { source.metrics }
}

extension IncomingBody {
    package func close(late error: HTTPError) { close() }
    package var isTransformed: Bool { false }
    package var arrivals: CallersExecutor? { nil }
}
