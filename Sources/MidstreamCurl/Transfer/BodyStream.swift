#if Curl && os(Linux)
    internal import Interception
    internal import MidstreamCore

    /// What a loop has received of a streamed body and its reader hasn't taken yet.
    final class BodyStream: Sendable {
        enum End {
            case complete
            case failed(any Error)
            case closed(any Error)
        }

        enum Next {
            /// Taken; the flag says that curl has been stopped and may go on.
            case chunk([UInt8], resumes: Bool)
            case end
            case failed(any Error)
            case wait
        }

        fileprivate struct State {
            var pending: [UInt8] = []
            var reader: UnsafeContinuation<[UInt8]?, any Error>?
            var isPaused = false
            var end: End?
            var isSpent = false
            /// The end has been handed out.
            var isRead = false
            var trailers: HTTPHeaders?
            var metrics: TransportMetrics?
        }

        /// How much may wait for the reader: 256 KiB. One piece of curl's may exceed it.
        static let limit = 256 << 10
        /// What curl hands over at most at a time.
        private static let pieceSize = 16 << 10

        private let state: Locked<State>

        /// Takes what is known of the metrics before the end.
        init(resends: Int = 0, interim: [InterimResponse] = []) {
            var state = State()
            if resends > 0 || !interim.isEmpty {
                var metrics = TransportMetrics()
                metrics.resends = resends
                metrics.interim = interim
                state.metrics = metrics
            }
            self.state = Locked(state)
        }

        var isSpent: Bool { state.withLock { $0.isSpent } }
        var trailers: HTTPHeaders? { state.withLock { $0.trailers } }
        var metrics: TransportMetrics? { state.withLock { $0.metrics } }

        /// Whether it is complete, and nothing of it has been read.
        var hasArrived: Bool { state.withLock { $0.hasArrived } }

        // MARK: The loop's side

        /// Whether there is room for a piece; otherwise the reader has to catch up first, and will say so.
        func hasRoom() -> Bool {
            state.withLock { state in
                guard state.end == nil, state.pending.count >= Self.limit else { return true }
                state.isPaused = true
                return false
            }
        }

        /// Keeps a piece; false, and nothing is kept, when the reader has to catch up first.
        func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
            state.withLock { state in
                guard state.end == nil else { return true }
                guard state.pending.count < Self.limit else {
                    state.isPaused = true
                    return false
                }
                // A full piece is one of many: make room for them at once.
                if state.pending.isEmpty, bytes.count >= Self.pieceSize { state.pending.reserveCapacity(Self.limit / 2) }
                state.pending.append(contentsOf: bytes)
                return true
            }
        }

        /// Gives a waiting reader what there is: once for all pieces that came together. True when curl may go on thereby.
        func deliver() -> Bool {
            let delivery = state.withLock { state -> (UnsafeContinuation<[UInt8]?, any Error>, Next)? in
                guard !state.pending.isEmpty, let reader = state.reader else { return nil }
                state.reader = nil
                return (reader, state.next())
            }
            guard let (reader, next) = delivery else { return false }
            Self.resume(reader, next)
            if case .chunk(_, resumes: true) = next { return true }
            return false
        }

        /// Ends the stream; what is pending can still be read.
        func finish(_ error: (any Error)?, trailers: HTTPHeaders?, metrics: TransportMetrics?) {
            let waiting = state.withLock { state -> (UnsafeContinuation<[UInt8]?, any Error>, Next)? in
                guard state.end == nil else { return nil }
                state.end = if let error { .failed(error) } else { .complete }
                state.trailers = trailers
                if let metrics { state.metrics = metrics }
                guard let reader = state.reader else { return nil }
                state.reader = nil
                return (reader, state.next())
            }
            if let (reader, next) = waiting { Self.resume(reader, next) }
        }

        // MARK: The reader's side

        /// What can be read at once.
        func next() -> Next { state.withLock { $0.next() } }

        /// All at once, when it is complete and nothing of it has been read.
        func takeAll() -> [UInt8]? {
            state.withLock { state in
                guard state.hasArrived else { return nil }
                (state.isSpent, state.isRead) = (true, true)
                return state.takePending()
            }
        }

        /// What can be read by now; ``Next/wait`` means that `reader` will be resumed.
        func next(orResume reader: UnsafeContinuation<[UInt8]?, any Error>) -> Next {
            state.withLock { state in
                let next = state.next()
                guard case .wait = next else { return next }
                guard state.reader == nil else { return .failed(HTTPError.alreadyRead()) }
                state.reader = reader
                return .wait
            }
        }

        /// Gives up the rest; whoever reads, gets `error`. True when the transfer was still going on.
        func close(_ error: any Error) -> Bool {
            let (reader, isArriving) = state.withLock { state in
                let isArriving = state.end == nil
                state.close(error)
                state.pending = []
                defer { state.reader = nil }
                return (state.reader, isArriving)
            }
            reader?.resume(throwing: error)
            return isArriving
        }

        static func resume(_ reader: UnsafeContinuation<[UInt8]?, any Error>, _ next: Next) {
            switch next {
            case .chunk(let chunk, _): reader.resume(returning: chunk)
            case .end: reader.resume(returning: nil)
            case .failed(let error): reader.resume(throwing: error)
            case .wait: break
            }
        }
    }

    extension BodyStream.State {
        fileprivate var hasArrived: Bool {
            if case .complete = end { !isSpent } else { false }
        }

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

        fileprivate mutating func next() -> BodyStream.Next {
            isSpent = true
            if !pending.isEmpty {
                defer { isPaused = false }
                return .chunk(takePending(), resumes: isPaused)
            }
            switch end {
            case nil: return .wait
            case .complete:
                guard !isRead else { return .failed(HTTPError.alreadyRead()) }
                isRead = true
                return .end
            case .failed(let error), .closed(let error): return .failed(error)
            }
        }
    }
#endif
