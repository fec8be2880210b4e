internal import Foundation
internal import Interception
internal import MidstreamCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One request and its response, between the task that waits for it and the session that delivers it.
///
/// All members may be called from any thread.
final class Exchange: Sendable {
    /// Whether a delegate call waits when the reader is behind, because the session's task can't be suspended.
    #if canImport(FoundationNetworking)
        static let waitsInDelegate = true
    #else
        static let waitsInDelegate = false
    #endif

    private struct State {
        var waiter: CheckedContinuation<HTTPResponse, any Error>?
        var head: HTTPURLResponse?
        var headTime: ContinuousClock.Instant?
        var buffer = ChunkBuffer()
        var reader: CheckedContinuation<[UInt8]?, any Error>?
        /// Set once nothing more will come, by the session or by giving up; the first one stands.
        var end: Result<Void, any Error>?
        var isSpent = false
        /// Whether the session is held up: its task suspended, or its delegate call waiting.
        var isHeldUp = false
        var metrics = TransportMetrics()
        var version = HTTPVersion.http1_1
        var task: URLSessionTask?
        var upload: Upload?
        var atEnd: (@Sendable () -> Void)?
    }

    let request: HTTPRequest
    private let outgoing: OutgoingRequest
    private let limit: Int
    private let start = ContinuousClock.now
    private let state = Locked(State())
    private let room = DispatchSemaphore(value: 0)

    init(_ request: HTTPRequest, _ outgoing: OutgoingRequest, responseBuffer: Int) {
        self.request = request
        self.outgoing = outgoing
        limit = max(1, responseBuffer)
    }

    /// Whether a delegate call of its session may have to wait, for the reader or for the request's body.
    var mayWait: Bool { request.delivery == .streamed || outgoing.isStreamed }

    /// Called once the session is done with the exchange, also when that was given up before.
    func onEnd(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.atEnd = action } }

    func makeTask(in session: URLSession) -> URLSessionTask { outgoing.makeTask(in: session) }

    func run(_ task: URLSessionTask) {
        let isGivenUp = state.withLock { state in
            state.task = task
            return state.end != nil
        }
        task.resume()
        // Resumed all the same, so that the session reports the end of the task.
        if isGivenUp { Self.cancel(task) }
    }

    // MARK: - The caller's side

    /// Waits for the head, or for the whole when that was asked for.
    func response(startingWith begin: (Exchange) -> Void) async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let failure: (any Error)? = state.withLock { state in
                    if case .failure(let error) = state.end { return error }
                    state.waiter = continuation
                    return nil
                }
                if let failure { continuation.resume(throwing: failure) } else { begin(self) }
            }
        } onCancel: {
            giveUp(CancellationError())
        }
    }

    /// The next piece of the body, or nil at its end.
    func nextChunk() async throws -> [UInt8]? {
        if Task.isCancelled { giveUp(CancellationError()) }
        if let known = try knownChunk() { return known.chunk }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = Result { try knownChunk(orWaitWith: continuation) }
                switch result {
                case .success(nil): break
                case .success(let known?): continuation.resume(returning: known.chunk)
                case .failure(let error): continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            giveUp(CancellationError())
        }
    }

    private struct Known { let chunk: [UInt8]? }

    private func knownChunk(orWaitWith reader: CheckedContinuation<[UInt8]?, any Error>? = nil) throws -> Known? {
        try state.withLock { state in
            state.isSpent = true
            if let chunk = state.buffer.popFirst() {
                if state.isHeldUp, state.buffer.byteCount <= limit / 2 { goOn(&state) }
                return Known(chunk: chunk)
            }
            if let end = state.end {
                try end.get()
                return Known(chunk: nil)
            }
            guard let reader else { return nil }
            guard state.reader == nil else {
                throw HTTPError(.bodyNotReplayable, "The body is being read by another task.", progress: .answered)
            }
            state.reader = reader
            return nil
        }
    }

    var isSpent: Bool { state.withLock { $0.isSpent } }

    /// The measurements, once the end has been read.
    var metrics: TransportMetrics? {
        state.withLock { state in state.end != nil && state.buffer.byteCount == 0 ? state.metrics : nil }
    }

    /// Ends the exchange with an error, unless it has ended; whoever waits gets the error now, not when the session has obeyed.
    func giveUp(_ error: any Error) {
        let (task, upload) = end(with: .failure(error))
        if let task { Self.cancel(task) }
        upload?.abort()
    }

    private static func cancel(_ task: URLSessionTask) {
        #if canImport(FoundationNetworking)
            // It waits for the session's queue, and that may be busy with a name lookup.
            DispatchQueue.global().async { task.cancel() }
        #else
            task.cancel()
        #endif
    }

    /// Settles the outcome and resumes whoever waits. Gives what has to be stopped, if this call was the one that ended it.
    private func end(with outcome: Result<Void, any Error>) -> (URLSessionTask?, Upload?) {
        let (waiter, reader, task, upload, response) = state.withLock { state in
            guard state.end == nil else {
                return (nil, nil, nil, nil, nil)
                    as (
                        CheckedContinuation<HTTPResponse, any Error>?, CheckedContinuation<[UInt8]?, any Error>?, URLSessionTask?,
                        Upload?, HTTPResponse?
                    )
            }
            state.end = outcome
            if state.metrics.total == nil { state.metrics.total = start.duration(to: .now) }
            if case .failure = outcome { state.buffer = ChunkBuffer() }
            defer {
                state.waiter = nil
                state.reader = nil
                state.upload = nil
                state.task = nil
            }
            let response = state.waiter == nil ? nil : state.head.map { bufferedResponse($0, &state) }
            if state.isHeldUp { goOn(&state) }
            return (state.waiter, state.reader, state.task, state.upload, response)
        }
        switch outcome {
        case .failure(let error):
            waiter?.resume(throwing: error)
            reader?.resume(throwing: error)
        case .success:
            if let response {
                waiter?.resume(returning: response)
            } else {
                waiter?.resume(throwing: HTTPError(.protocolViolation, "The server sent no HTTP response.", request: request))
            }
            reader?.resume(returning: nil)
        }
        return (task, upload)
    }

    // MARK: - The session's side

    /// The head, or an interim one, which is passed over.
    func receive(head: URLResponse) {
        guard let head = head as? HTTPURLResponse, head.statusCode >= 200 else { return }
        let now = ContinuousClock.now
        let waiter: CheckedContinuation<HTTPResponse, any Error>? = state.withLock { state in
            guard state.end == nil, state.head == nil else { return nil }
            state.head = head
            if state.metrics.firstByte == nil { state.metrics.firstByte = start.duration(to: now) }
            guard request.delivery == .streamed else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        if let waiter {
            waiter.resume(returning: streamedResponse(head))
        } else if case .buffered(let limit) = request.delivery, ResponseHead(head, for: request).bodyLength ?? 0 > limit {
            giveUp(HTTPError.bodyTooLarge(limit: limit))
        }
    }

    /// A piece of the body. Holds the session up when enough of it is waiting to be read.
    func receive(_ data: Data) {
        guard !data.isEmpty else { return }
        let chunk = [UInt8](data)
        var waits = false
        var isTooLarge: Int?
        let reader: CheckedContinuation<[UInt8]?, any Error>? = state.withLock { state in
            guard state.end == nil else { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            if case .buffered(let limit) = request.delivery {
                guard state.buffer.byteCount + chunk.count <= limit else {
                    isTooLarge = limit
                    return nil
                }
                state.buffer.gather(chunk)
                return nil
            }
            state.buffer.append(chunk)
            if state.buffer.byteCount > limit, !state.isHeldUp {
                state.isHeldUp = true
                if Self.waitsInDelegate { waits = true } else { state.task?.suspend() }
            }
            return nil
        }
        reader?.resume(returning: chunk)
        if let isTooLarge { giveUp(HTTPError.bodyTooLarge(limit: isTooLarge)) }
        if waits { room.wait() }
    }

    /// Lets the session go on. Called with the lock held, so that a suspension and its end can't overtake each other.
    private func goOn(_ state: inout State) {
        state.isHeldUp = false
        if Self.waitsInDelegate { room.signal() } else { state.task?.resume() }
    }

    /// The body is complete, though the session isn't done with its task.
    func completeBody() { _ = end(with: .success(())) }

    /// The session is done with the task.
    func complete(_ error: (any Error)?, head: URLResponse?) {
        let (hasHead, upload, atEnd) = state.withLock { state in
            defer { state.atEnd = nil }
            return (state.head != nil, state.upload, state.atEnd)
        }
        // Before the caller hears of it, so that the next request finds the session and its connection free.
        atEnd?()
        if let error {
            _ = end(with: .failure(HTTPError(error, for: request, hasHead: hasHead)))
        } else {
            if !hasHead, let head { receive(head: head) }
            _ = end(with: .success(()))
        }
        upload?.abort()
    }

    /// A stream of the request's body, read from its beginning.
    func makeBodyStream() -> InputStream? {
        guard let body = outgoing.streamedBody else { return nil }
        let upload = Upload(body) { [weak self] error in self?.giveUp(error) }
        let (previous, isOver) = state.withLock { state in
            let previous = state.upload
            state.upload = upload
            return (previous, state.end != nil)
        }
        previous?.abort()
        if isOver { upload.abort() } else { upload.start() }
        return upload.stream
    }

    #if !canImport(FoundationNetworking)
        func receive(_ metrics: URLSessionTaskMetrics) {
            guard let transaction = metrics.transactionMetrics.last else { return }
            let measured = TransportMetrics(transaction, taskInterval: metrics.taskInterval)
            state.withLock { state in
                state.metrics = measured
                state.version = HTTPVersion(protocolName: transaction.networkProtocolName) ?? state.version
            }
        }
    #endif

    // MARK: - Responses

    private func streamedResponse(_ head: HTTPURLResponse) -> HTTPResponse {
        let parts = ResponseHead(head, for: request)
        let body = HTTPBody.incoming(ReceivedBody(self), length: parts.bodyLength)
        return HTTPResponse(status: HTTPStatus(head.statusCode), headers: parts.headers, body: body, request: request)
    }

    private func bufferedResponse(_ head: HTTPURLResponse, _ state: inout State) -> HTTPResponse {
        HTTPResponse(
            status: HTTPStatus(head.statusCode), headers: ResponseHead(head, for: request).headers,
            body: .bytes(state.buffer.popAll()), request: request, version: state.version, metrics: state.metrics)
    }
}
