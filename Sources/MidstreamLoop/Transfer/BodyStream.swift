#if os(Linux)
    package import Interception
    package import MidstreamCore

    /// What a loop has received of a streamed body and its reader hasn't taken yet.
    package final class BodyStream: Sendable {
        package enum End {
            case complete
            case failed(any Error)
            case closed(any Error)
        }

        /// A chunk, nil at the end.
        package typealias Chunk = Result<[UInt8]?, any Error>

        package enum Next {
            /// - Parameter resumes: Whether receiving was paused and may go on.
            case chunk(Chunk, resumes: Bool)
            /// Nothing has come yet; the suspension gets what comes next.
            case wait(Suspension<Chunk>)
        }

        fileprivate struct State {
            var pending: [UInt8] = []
            var reader: Suspension<Chunk>?
            var isPaused = false
            var end: End?
            var isSpent = false
            /// The end has been handed out.
            var isRead = false
            /// Fills it until its end: whoever keeps a response that is over keeps no loop by it.
            var transfer: Transfer?
            var trailers: HTTPHeaders?
            private var measured: Measured?

            var metrics: TransportMetrics? {
                get { if case .metrics(let metrics)? = measured { metrics } else { nil } }
                set { measured = newValue.map { .metrics($0) } }
            }
        }

        /// One word: metrics are large, and mostly come at the end.
        private indirect enum Measured {
            case metrics(TransportMetrics)
        }

        /// How much of a body may wait for its reader: 256 KiB. One piece may exceed it.
        package static let limit = 256 << 10
        /// The same of another protocol, whose reader has room of its own: 32 KiB.
        package static let pipeLimit = 32 << 10
        private let limit: Int
        /// What libcurl hands over at most at a time.
        private static let pieceSize = 16 << 10

        private let state: Locked<State>

        /// Takes what is known of the metrics before the end.
        package init(
            of transfer: Transfer? = nil, resends: Int = 0, interim: [InterimResponse] = [], limit: Int = BodyStream.limit
        ) {
            self.limit = limit
            var state = State()
            state.transfer = transfer
            if resends > 0 || !interim.isEmpty {
                var metrics = TransportMetrics()
                metrics.resends = resends
                metrics.interim = interim
                state.metrics = metrics
            }
            self.state = Locked(state)
        }

        /// What fills it; nil when it has ended.
        var transfer: Transfer? { state.withLock { $0.transfer } }
        package var isSpent: Bool { state.withLock { $0.isSpent } }
        package var trailers: HTTPHeaders? { state.withLock { $0.trailers } }
        package var metrics: TransportMetrics? { state.withLock { $0.metrics } }

        /// Whether all that has come has been read.
        var isDrained: Bool { state.withLock { $0.pending.isEmpty } }

        // MARK: The loop's side

        /// Whether there is room for a piece; otherwise the reader resumes the transfer when it has caught up.
        package func hasRoom() -> Bool {
            state.withLock { state in
                guard state.end == nil, state.pending.count >= limit else { return true }
                state.isPaused = true
                return false
            }
        }

        /// Keeps a piece; false, and nothing is kept, when the reader has to catch up first.
        package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
            state.withLock { state in
                guard state.end == nil else { return true }
                guard state.pending.count < limit else {
                    state.isPaused = true
                    return false
                }
                if state.pending.isEmpty, bytes.count < Self.pieceSize {
                    state.pending = [UInt8](bytes)
                } else {
                    // A full piece is one of many: make room for them at once.
                    if state.pending.isEmpty { state.pending.reserveCapacity(limit / 2) }
                    state.pending.append(contentsOf: bytes)
                }
                return true
            }
        }

        /// Gives a waiting reader what there is: once for all pieces that came together. True when receiving may go on thereby.
        package func deliver() -> Bool {
            guard let (reader, chunk, resumes) = state.withLock({ $0.pending.isEmpty ? nil : $0.takeReader() }) else {
                return false
            }
            reader.resume(chunk)
            return resumes
        }

        /// Ends the stream; what is pending can still be read.
        package func finish(_ error: (any Error)?, trailers: HTTPHeaders?, metrics: TransportMetrics?) {
            let waiting = state.withLock { state -> (reader: Suspension<Chunk>, chunk: Chunk, resumes: Bool)? in
                state.transfer = nil
                guard state.end == nil else { return nil }
                state.end = if let error { .failed(error) } else { .complete }
                state.trailers = trailers
                if let metrics { state.metrics = metrics }
                return state.takeReader()
            }
            if let waiting { waiting.reader.resume(waiting.chunk) }
        }

        // MARK: The reader's side

        /// What can be read at once, or the suspension to wait with.
        package func next() -> Next {
            state.withLock { state in
                if let (chunk, resumes) = state.next() { return .chunk(chunk, resumes: resumes) }
                guard state.reader == nil else { return .chunk(.failure(HTTPError.beingRead()), resumes: false) }
                let reader = Suspension<Chunk>()
                state.reader = reader
                return .wait(reader)
            }
        }

        /// All at once, when it is complete and nothing of it has been read.
        package func takeAll() -> [UInt8]? {
            state.withLock { state in
                guard case .complete = state.end, !state.isSpent else { return nil }
                (state.isSpent, state.isRead) = (true, true)
                return state.takePending()
            }
        }

        /// Gives up the rest; the reader gets `error`, which isn't made where there is nothing left. True when the transfer was still going on.
        package func close(_ error: @autoclosure () -> any Error) -> Bool {
            if state.withLock({ $0.isRead }) { return false }
            let error = error()
            let (reader, isArriving) = state.withLock { state in
                let isArriving = state.end == nil
                state.close(error)
                state.pending = []
                defer { state.reader = nil }
                return (state.reader, isArriving)
            }
            reader?.resume(.failure(error))
            return isArriving
        }
    }

    extension BodyStream.State {
        fileprivate mutating func takePending() -> [UInt8] {
            var chunk: [UInt8] = []
            swap(&chunk, &pending)
            return chunk
        }

        /// The first reason counts.
        fileprivate mutating func close(_ error: any Error) {
            if case .closed = end { return }
            if end == nil || !isRead { end = .closed(error) }
        }

        /// The waiting reader and what there is for it.
        fileprivate mutating func takeReader() -> (reader: Suspension<BodyStream.Chunk>, chunk: BodyStream.Chunk, resumes: Bool)?
        {
            guard let reader, let (chunk, resumes) = next() else { return nil }
            self.reader = nil
            return (reader, chunk, resumes)
        }

        /// Nil when nothing has come.
        fileprivate mutating func next() -> (chunk: BodyStream.Chunk, resumes: Bool)? {
            isSpent = true
            if !pending.isEmpty {
                defer { isPaused = false }
                return (.success(takePending()), isPaused)
            }
            switch end {
            case nil: return nil
            case .complete:
                guard !isRead else { return (.failure(HTTPError.alreadyRead()), false) }
                isRead = true
                return (.success(nil), false)
            case .failed(let error), .closed(let error): return (.failure(error), false)
            }
        }
    }
#endif
