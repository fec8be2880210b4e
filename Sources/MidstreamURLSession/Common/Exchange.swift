internal import Foundation
internal import Interception
internal import MidstreamCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// How many bytes of a streamed response may wait for their reader.
struct BodyLimits: Sendable {
    let memory: Int
    /// In a temporary file, where nothing can make the sender wait.
    let spool: Int64
}

/// One request and its response, between the task that waits for it and the session that delivers it.
///
/// All members may be called from any thread.
final class Exchange: Sendable {
    private struct State {
        var head: HTTPURLResponse?
        /// The first one behind a proxy: the server's where no other follows before something of the body or the end.
        var possibleHead: HTTPURLResponse?
        /// Whether something of the body has come.
        var hasBody = false
        var buffer: ResponseBuffer
        /// Only woken: it takes what there is from here.
        var reader: Suspension<Void>?
        /// Set once nothing more will come, by the session or by giving up; the first one stands.
        var end: Result<Void, any Error>?
        /// Whether the task is suspended because the reader is behind.
        var isSuspended = false
        var metrics = TransportMetrics()
        var version = HTTPVersion.http1_1
        /// Whether something of the request has gone out, as far as the session tells: on Apple's platforms, where it sends a request again by
        /// itself when a kept connection dies.
        var wasSent = false
        var task: URLSessionTask?
        /// Ends the reading of the request's body; keeps its stream open.
        var stopUpload: (@Sendable () -> Void)?
    }

    private enum Next {
        case chunk([UInt8])
        case end
        /// Nothing has come; the suspension ends when something has.
        case wait(Suspension<Void>)
    }

    let request: HTTPRequest
    private let delivery: BodyDelivery
    let outgoing: OutgoingRequest
    private let limits: BodyLimits
    private let isBehindProxy: Bool
    private let start = ContinuousClock.now
    /// Ends when the head has come, or the whole where that is delivered, and with the exchange.
    private let arrival = Suspension<Void>()
    private let state: Locked<State>

    /// - Parameter isBehindProxy: Whether the session may tell of a proxy's head, by which a tunnel was opened, before the server's.
    init(
        _ request: HTTPRequest, _ delivery: BodyDelivery, _ outgoing: OutgoingRequest, limits: BodyLimits,
        isBehindProxy: Bool = false
    ) {
        self.request = request
        self.delivery = delivery
        self.outgoing = outgoing
        self.limits = limits
        self.isBehindProxy = isBehindProxy
        state = Locked(State(buffer: ResponseBuffer(fileLimit: limits.spool)))
    }

    /// Whether it has come to its end, perhaps before it began.
    var hasEnded: Bool { state.withLock { $0.end != nil } }

    func run(_ task: URLSessionTask) {
        let isGivenUp = state.withLock { state in
            state.task = task
            return state.end != nil
        }
        task.resume()
        // Resumed all the same, so that the session reports the end of the task.
        if isGivenUp { Self.cancel(task) }
    }

    /// Ends the exchange with an error, unless it has ended; its caller gets the error now, not when the session has given up the task.
    func giveUp(_ error: any Error) {
        end(with: .failure(error), cancelsTask: true)
    }

    private static func cancel(_ task: URLSessionTask) {
        #if canImport(FoundationNetworking)
            // It waits for the session's queue, and that may be busy with a name lookup, or be the one that this runs on.
            DispatchQueue.global().async { task.cancel() }
        #else
            // A suspended one may not report its end.
            if task.state == .suspended { task.resume() }
            task.cancel()
        #endif
    }

    /// Settles the outcome and wakes the caller and the reader, if this call is the one that ends the exchange.
    private func end(with outcome: Result<Void, any Error>, keepsReceived: Bool = false, cancelsTask: Bool = false) {
        var reader: Suspension<Void>?
        var (task, stopUpload): (URLSessionTask?, (@Sendable () -> Void)?)
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = outcome
            if state.metrics.total == nil { state.metrics.total = start.duration(to: .now) }
            switch outcome {
            case .success: state.head = state.head ?? state.possibleHead
            case .failure: if !keepsReceived { state.buffer = ResponseBuffer(fileLimit: 0) }
            }
            swap(&reader, &state.reader)
            swap(&task, &state.task)
            stopUpload = state.stopUpload
        }
        arrival.resume()
        reader?.resume()
        // First, so that a body that is cut off doesn't come to an end that makes it pass for whole. For the same reason the upload
        // is kept until the session is done with the task.
        if cancelsTask, let task { Self.cancel(task) }
        stopUpload?()
    }
}

// MARK: - The caller's side

extension Exchange {
    /// Waits for the head, or for the whole response.
    func response(startingWith begin: (Exchange) -> Void) async throws -> HTTPResponse {
        try Task.checkCancellation()
        begin(self)
        if case .cancelled = await arrival.wait() { giveUp(CancellationError()) }
        return try delivery == .streamed ? streamedResponse() : bufferedResponse()
    }

    private func streamedResponse() throws -> HTTPResponse {
        let (head, end) = state.withLock { ($0.head, $0.end) }
        // A failure after the head is reported by the body, but a cancelled caller wants no response.
        if case .failure(let error) = end, head == nil || error is CancellationError { throw error }
        guard let head else { throw noResponse() }
        let parts = ResponseHead(head, for: request)
        // The reader holds the exchange by it, as the session does; releasing it gives the transfer up.
        let body = HTTPBody.incoming(
            length: parts.bodyLength, next: { try await self.nextChunk() }, metrics: { self.metrics },
            close: { self.giveUp(HTTPError.bodyClosed()) })
        var response = HTTPResponse(status: HTTPStatus(head.statusCode), headers: parts.headers, body: body, request: request)
        if parts.isDecoded { response.isDecodedUnseen = true }
        return response
    }

    private func bufferedResponse() throws -> HTTPResponse {
        try state.withLock { state in
            guard let head = state.head else {
                try state.end?.get()
                throw noResponse()
            }
            let parts = ResponseHead(head, for: request)
            var response = HTTPResponse(
                status: HTTPStatus(head.statusCode), headers: parts.headers, body: .bytes(state.buffer.popAll()),
                request: request, version: state.version, metrics: state.metrics)
            if parts.isDecoded { response.isDecodedUnseen = true }
            if case .failure(let error) = state.end {
                throw (error as? HTTPError)?.ofRefusal(response, response.status) ?? error
            }
            return response
        }
    }

    private func noResponse() -> HTTPError {
        HTTPError(.protocolViolation, "The server sent no HTTP response.", request: request)
    }

    /// The next piece of the body, or nil at its end.
    func nextChunk() async throws -> [UInt8]? {
        while true {
            if Task.isCancelled { giveUp(CancellationError()) }
            switch try next() {
            case .chunk(let chunk): return chunk
            case .end: return nil
            case .wait(let suspension): _ = await suspension.wait()
            }
        }
    }

    private func next() throws -> Next {
        try state.withLock { state in
            if let chunk = try state.buffer.popFirst() {
                if state.isSuspended, state.buffer.byteCount <= limits.memory / 2 {
                    state.isSuspended = false
                    state.task?.resume()
                }
                return .chunk(chunk)
            }
            if let end = state.end {
                try end.get()
                return .end
            }
            guard state.reader == nil else { throw HTTPError.beingRead() }
            let reader = Suspension<Void>()
            state.reader = reader
            return .wait(reader)
        }
    }

    /// The measurements, once the end has been read.
    var metrics: TransportMetrics? {
        state.withLock { state in state.end != nil && state.buffer.isEmpty ? state.metrics : nil }
    }
}

// MARK: - The session's side

extension Exchange {
    /// The head, an interim one, which is passed over, or one by which a proxy has opened a tunnel.
    func receive(head: URLResponse) {
        guard let head = head as? HTTPURLResponse, head.statusCode >= 200 else { return }
        let now = ContinuousClock.now
        let isOfPart = state.withLock { state -> Bool? in
            guard state.end == nil, state.head == nil else { return state.hasBody }
            if state.metrics.firstByte == nil || state.possibleHead != nil {
                state.metrics.firstByte = start.duration(to: now)
            }
            if isBehindProxy, state.possibleHead == nil {
                state.possibleHead = head
                return nil
            }
            state.head = head
            return false
        }
        guard let isOfPart else { return }
        if isOfPart {
            let message = "URLSession takes multipart/x-mixed-replace apart, and leaves out the boundaries."
            giveUp(HTTPError(.unsupported, message, request: request, phase: .answered))
        }
        if delivery == .streamed { arrival.resume() }
        if case .buffered(let limit) = delivery, ResponseHead(head, for: request).bodyLength ?? 0 > limit {
            giveUp(HTTPError.tooLarge(limit: limit))
        }
    }

    /// A piece of the body.
    func receive(_ data: Data) {
        guard !data.isEmpty else { return }
        let chunk = [UInt8](data)
        var failure: HTTPError?
        let reader = state.withLock { state -> Suspension<Void>? in
            guard state.end == nil else { return nil }
            state.hasBody = true
            state.head = state.head ?? state.possibleHead
            defer { state.reader = nil }
            if case .buffered(let limit) = delivery {
                if state.buffer.byteCount + chunk.count <= limit {
                    state.buffer.gather(chunk)
                } else {
                    failure = HTTPError.tooLarge(limit: limit)
                }
            } else {
                failure = keep(chunk, &state)
            }
            return state.reader
        }
        if isBehindProxy, delivery == .streamed { arrival.resume() }
        reader?.resume()
        if let failure { giveUp(failure) }
    }

    #if canImport(FoundationNetworking)
        private func keep(_ chunk: [UInt8], _ state: inout State) -> HTTPError? {
            do {
                guard try !state.buffer.append(chunk, memoryLimit: limits.memory) else { return nil }
                return HTTPError(
                    .bodyTooLarge, "More than \(limits.spool) bytes of the body wait in a file for their reader.",
                    request: request,
                    phase: .answered)
            } catch {
                return HTTPError(
                    .bodyTooLarge, "What hasn't been read of the body doesn't fit into the temporary folder.", request: request,
                    underlying: error, phase: .answered)
            }
        }
    #else
        /// Suspends the task when enough is waiting. With the lock held, so that a suspension and its end can't overtake each
        /// other; neither waits for anything. The session may go on delivering, so there is an end to what is kept.
        private func keep(_ chunk: [UInt8], _ state: inout State) -> HTTPError? {
            state.buffer.append(chunk)
            guard Int64(state.buffer.byteCount) - Int64(limits.memory) <= limits.spool else {
                return HTTPError(
                    .bodyTooLarge, "More than \(limits.spool) bytes of the body wait for their reader.", request: request,
                    phase: .answered)
            }
            if state.buffer.byteCount > limits.memory, !state.isSuspended {
                state.isSuspended = true
                state.task?.suspend()
            }
            return nil
        }

        /// A stream of the request's body, read from its beginning.
        func makeBodyStream() -> InputStream? {
            guard let (body, length) = outgoing.streamedBody else { return nil }
            let upload = Upload(body, length: length) { [weak self] error in self?.giveUp(error) }
            var stop: (@Sendable () -> Void)? = { upload.abort() }
            let isOver = state.withLock { state in
                if state.end == nil { swap(&stop, &state.stopUpload) }
                return state.end != nil
            }
            // The previous one, or this one when the exchange has ended.
            stop?()
            // An end of the stream would pass for that of the body.
            guard !isOver else { return nil }
            upload.start()
            return upload.stream
        }

        func receive(_ metrics: URLSessionTaskMetrics) {
            guard let transaction = metrics.transactionMetrics.last else { return }
            let measured = TransportMetrics(transaction, taskInterval: metrics.taskInterval)
            let wasSent = metrics.transactionMetrics.contains { $0.requestStartDate != nil }
            state.withLock { state in
                state.metrics = measured
                state.version = HTTPVersion(protocolName: transaction.networkProtocolName) ?? state.version
                state.wasSent = wasSent
            }
        }
    #endif

    /// The body is complete, though the session isn't done with its task.
    func completeBody() { end(with: .success(())) }

    /// The session is done with the task.
    func complete(_ error: (any Error)?, head: URLResponse?) {
        var stopUpload: (@Sendable () -> Void)?
        let (hasHead, wasSent, metrics) = state.withLock { state in
            swap(&stopUpload, &state.stopUpload)
            if state.metrics.total == nil { state.metrics.total = start.duration(to: .now) }
            return (state.head != nil, state.wasSent, state.metrics)
        }
        defer { stopUpload?() }
        if let error {
            var failure = HTTPError(error, for: request, hasHead: hasHead, wasSent: wasSent)
            failure.metrics = metrics
            // What came before can still be read, and the error comes after it.
            end(with: .failure(failure), keepsReceived: true)
        } else {
            if !hasHead, let head { receive(head: head) }
            end(with: .success(()))
        }
    }
}
