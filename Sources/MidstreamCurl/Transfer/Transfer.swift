#if Curl && os(Linux)
    internal import CCurl
    import Glibc
    internal import Interception
    internal import MidstreamCore

    /// One exchange: from the request to the end of the response.
    ///
    /// `@unchecked Sendable`: the constants are readable anywhere; `continuation` is set before the transfer is posted, and from then on all
    /// variables are touched only on the loop's thread. The reader of a streamed body shares a ``BodyStream`` with the loop.
    final class Transfer: HandleUser, @unchecked Sendable {
        let request: HTTPRequest
        let options: ExchangeOptions
        let loop: any TransferLoop
        /// Whether the URL is an https one.
        let isSecure: Bool
        /// Where a streamed body of the request is read.
        let bodyExecutor: CallersExecutor?
        /// Keeps the loop.
        private let group: any Sendable

        private var continuation: UnsafeContinuation<ArrivedResponse, any Error>?
        private(set) var handle: EasyHandle?
        var admission = AdmissionState.none
        /// Its index in ``EventLoop/active``.
        var place = 0
        /// Cancelled, perhaps before the start.
        var isGivenUp = false
        /// It is among those that the loop will settle.
        var isUnsettled = false
        /// Why a callback has stopped curl.
        var failure: (any Error)?

        // The request's way out.
        var outgoing = OutgoingBody.none
        /// Curl has begun to send.
        private var isBegun = false
        /// How many times curl has begun again.
        private(set) var resends = 0
        private(set) var isSendingPaused = false

        /// The socket of its connection; nil before the first, and where it isn't known.
        var descriptor: Int32?

        // The response's way in.
        var head = HeadReader()
        var headers = HTTPHeaders()
        var interim: [InterimResponse] = []
        /// A buffered body that is too large for the handle's ``ResponseBuffer``.
        var received = ReceivedBytes()
        var stream: BodyStream?
        var isReceivingPaused = false
        /// The transport has asked for encodings.
        var decodes = false
        /// Those of the body, in the order in which they were applied.
        var codings: [ContentCoding] = []
        /// Nil before the body's first byte.
        var decoder: BodyDecoder?
        /// Checks the encoded bytes.
        var encodedCheck: BodyCheck?
        /// How much has been decoded of a piece that curl will hand over again.
        var decodedOfPiece = 0
        /// The body's length on the wire; nil: not known.
        var expectedLength: Int64?
        /// The body's length once decoded; nil: not known.
        var decodedLength: Int64?
        var tlsVersion: String?
        /// For a body that ends with its connection: whether TLS was ended as well; nil: not known.
        var isClosedAsAgreed: Bool?

        private var startTime: UInt64 = 0
        var lastActivity: UInt64 = 0
        private var lastUploaded: Int64 = 0

        init(_ request: HTTPRequest, _ options: ExchangeOptions, loop: any TransferLoop, group: any Sendable) {
            self.request = request
            self.options = options
            self.loop = loop
            isSecure = request.urlText.hasSecureScheme
            self.group = group
            bodyExecutor = request.body.bytes == nil ? CallersExecutor() : nil
        }

        /// Hands the transfer to its loop, which resumes the continuation once. Not inlined, to keep async frames small.
        @inline(never)
        func start(resuming continuation: UnsafeContinuation<ArrivedResponse, any Error>) {
            self.continuation = continuation
            if !loop.drive(self), !loop.post(.start(self)) { fail(HTTPError.transportClosed) }
        }

        // MARK: The loop's steps

        func begin(with handle: EasyHandle, place: Int) {
            assert(loop.isCurrent)
            self.handle = handle
            self.place = place
            handle.response.pointee.begin(clock: loop.clock)
            lastActivity = MonotonicTime.now()
            if startTime == 0 { startTime = lastActivity }
        }

        /// Waits for a connection; the limits that count from the start of the exchange count from now.
        func beginWaiting() { startTime = MonotonicTime.now() }

        /// The time left of the exchange's limit; nil: none. Curl counts from the moment when it gets the transfer.
        var timeLeft: Duration? {
            guard let limit = options.timeLimit, startTime > 0 else { return options.timeLimit }
            return limit - .nanoseconds(Int64(clamping: MonotonicTime.now() - startTime))
        }

        /// Lets go of the handle; returns ``place``.
        func end() -> Int {
            assert(loop.isCurrent)
            handle = nil
            decoder = nil
            if case .chunks(let feeder) = outgoing { feeder.stop() }
            outgoing = .none
            return place
        }

        /// Has the loop call ``settle()`` once curl has returned.
        func markUnsettled() {
            guard !isUnsettled else { return }
            isUnsettled = true
            loop.settleLater(self)
        }

        /// Wakes the reader; true when the transfer is to be ended as a success although curl hasn't ended it.
        func settle() -> Bool {
            assert(loop.isCurrent)
            guard handle != nil else { return false }
            if isSendingPaused, head.isComplete, EarlyAnswers.endUpload(status: head.status) { resumeSending() }
            answer()
            if stream?.deliver() == true { resumeReceiving() }
            return isAnsweredEarly
        }

        func resumeReceiving() {
            guard isReceivingPaused, let handle else { return }
            isReceivingPaused = false
            unpause(handle)
        }

        func resumeSending() {
            guard isSendingPaused, let handle else { return }
            isSendingPaused = false
            unpause(handle)
        }

        private func unpause(_ handle: EasyHandle) {
            noteActivity()
            loop.expectDeadline(of: self)
            let stillPaused = (isReceivingPaused ? CURLPAUSE_RECV : 0) | (isSendingPaused ? CURLPAUSE_SEND : 0)
            let code = curl_easy_pause(handle.curl, stillPaused)
            guard code != CURLE_OK else { return }
            // Curl delivers what it has kept from within this call, and would notice only by a timer that it was refused.
            loop.post(.fail(self, failure ?? HTTPError(code, of: self, handle, phase: phase(handle))))
        }

        func noteActivity() {
            assert(loop.isCurrent)
            lastActivity = loop.now
        }

        // MARK: Ends

        func fail(_ error: any Error) { complete(.failure(error)) }

        func complete(_ outcome: Result<TransportMetrics, any Error>) {
            switch outcome {
            case .success(let metrics):
                let trailers = head.takeTrailers()
                do {
                    try encodedCheck?.atEnd(trailers)
                } catch {
                    return complete(.failure(error))
                }
                if let stream {
                    stream.finish(nil, trailers: trailers, metrics: metrics)
                    return answer()
                }
                let body = received.isWhole ? received.joined() : []
                let response = HTTPResponse(
                    status: HTTPStatus(head.status), headers: headers, body: .bytes(body), request: request,
                    version: head.version, trailers: trailers, metrics: metrics)
                let arrived = ArrivedResponse(response: response, body: received.isWhole ? nil : received)
                received = ReceivedBytes()
                takeContinuation()?.resume(returning: arrived)
            case .failure(let error):
                stream?.finish(error, trailers: nil, metrics: nil)
                // The error is the stream's to report, but a caller that has been cancelled wants no response.
                if !(error is CancellationError) { answer() }
                takeContinuation()?.resume(throwing: error)
            }
        }

        /// Gives the caller the head, with a body that is still arriving; does nothing a second time. Called once curl has returned, so
        /// that what came together with the head can be read without another wait.
        private func answer() {
            guard let stream, let continuation = takeContinuation() else { return }
            let body = IncomingTransferBody(stream: stream, transfer: self)
            let response = HTTPResponse(
                status: HTTPStatus(head.status), headers: headers, body: .incoming(body, length: decodedLength), request: request,
                version: head.version)
            continuation.resume(returning: ArrivedResponse(response: response))
        }

        private func takeContinuation() -> UnsafeContinuation<ArrivedResponse, any Error>? {
            defer { continuation = nil }
            return continuation
        }

        /// What curl's result means; gives the metrics of a success.
        func outcome(_ code: CURLcode, _ handle: EasyHandle) throws -> TransportMetrics {
            if let failure { throw failure }
            guard code == CURLE_OK else { throw HTTPError(code, of: self, handle, phase: phase(handle)) }
            guard head.isComplete else { throw endWithinHead(handle) }
            if isClosedAsAgreed == false {
                throw HTTPError(
                    .connectionLost, "The connection was closed without TLS's end, so that the body may have been cut.",
                    request: request, phase: .answered)
            }
            if let decoder, !decoder.isComplete { throw DecodingFault.truncated.error(request, ratio: nil) }
            takeBufferedBody(handle)
            var metrics = TransportMetrics(handle, tlsVersion: tlsVersion, resends: resends)
            metrics.interim = interim
            return metrics
        }

        private func endWithinHead(_ handle: EasyHandle) -> HTTPError {
            // Curl takes a connection that is closed within a head for the end of a response without a body.
            let isSwitch = handle.long(CURLINFO_RESPONSE_CODE) == 101
            return HTTPError(
                isSwitch ? .protocolViolation : .connectionLost,
                isSwitch ? HeadReader.Fault.switchedProtocols.message : "The connection was closed within the head.",
                request: request, phase: .maybeProcessed)
        }

        private func phase(_ handle: EasyHandle) -> HTTPError.Phase {
            if head.isComplete { return .answered }
            // The size is that of the sent heads, so zero means that the connection died under the first byte.
            return isBegun && handle.long(CURLINFO_REQUEST_SIZE) > 0 ? .maybeProcessed : .notSent
        }

        // MARK: Sending

        /// Called when a connection stands and the request is about to be sent; false stops it.
        func willSend(over ends: ConnectionEnds, localPort: Int32) -> Bool {
            assert(loop.isCurrent)
            // Curl sends again by itself when a kept connection turns out to be dead. Whether the server has seen the first
            // try is unknown, so only what may be repeated is.
            if isBegun, !hasBegunToAnswer, !mayBeRepeated {
                failure = HTTPError(
                    .connectionLost, "The kept connection was closed before an answer came.", request: request,
                    phase: .maybeProcessed)
                return false
            }
            guard let handle else { return false }
            noteActivity()
            // Nothing leaves on a buried connection: curl tries the next one, and this counts for nothing.
            guard
                loop.takeConnection(
                    for: self, isNew: handle.long(CURLINFO_NUM_CONNECTS) > 0, localPort: localPort, ends: ends)
            else {
                return true
            }
            if isBegun { resends += 1 }
            isBegun = true
            return true
        }

        var hasBegunToAnswer: Bool { head.status > 0 || handle?.response.pointee.head.isEmpty == false }

        private var mayBeRepeated: Bool {
            request.method.isIdempotent || request.allowsUnsafeRetry || request.headers.contains(.idempotencyKey)
        }

        /// Gives curl more of the body.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard case .chunks(let feeder) = outgoing else { return 0 }
            switch feeder.read(into: buffer, for: self) {
            case .bytes(let count):
                noteActivity()
                return count
            case .later:
                isSendingPaused = true
                return ccurl_pause_reading()
            }
        }

        /// Whether a part of the request's body is still to be sent.
        var isUploading: Bool {
            guard let handle else { return false }
            switch outgoing {
            case .none: return false
            case .bytes(let bytes): return handle.offset(CURLINFO_SIZE_UPLOAD_T) < Int64(bytes.count)
            case .chunks(let feeder):
                guard feeder.isDrained else { return true }
                return feeder.length.map { handle.offset(CURLINFO_SIZE_UPLOAD_T) < $0 } ?? false
            }
        }

        /// Whether the response is whole while the request isn't.
        private var isAnsweredEarly: Bool {
            guard head.isComplete, let handle, let expectedLength, !isReceivingPaused, isUploading else { return false }
            return EarlyAnswers.isWhole(handle.curl, length: expectedLength)
        }

        // MARK: Deadlines

        /// When the exchange has taken too long if nothing happens until then, in nanoseconds of the monotonic clock; nil: never.
        func deadline() -> UInt64? {
            let limits = loop.options
            if head.isComplete {
                guard let limit = limits.idleLimit, !isReceivingPaused else { return nil }
                return max(lastActivity, handle?.response.pointee.lastActivity ?? 0) + limit
            }
            let due = limits.headLimit.map { startTime + $0 }
            if admission.isWaiting {
                guard options.delivery != .streamed, let limit = options.timeLimit else { return due }
                return min(due ?? .max, startTime + limit.wholeNanoseconds)
            }
            guard let limit = limits.idleLimit, let stall = sendingDeadline(limit) else { return due }
            return min(due ?? .max, stall)
        }

        /// Bytes in memory leave without a callback, so their count is looked at from time to time.
        private func sendingDeadline(_ limit: UInt64) -> UInt64? {
            if case .none = outgoing { return nil }
            guard !isSendingPaused else { return nil }
            let nextLook = loop.now + loop.options.deadlineGrain
            guard isBegun else { return nextLook }
            guard isUploading, let handle else { return nil }
            let uploaded = handle.offset(CURLINFO_SIZE_UPLOAD_T)
            if uploaded != lastUploaded {
                lastUploaded = uploaded
                noteActivity()
            }
            let stall = lastActivity + limit
            return stall <= loop.now ? stall : min(stall, nextLook)
        }

        /// What the transfer ends with when its transport is closed.
        func closedError() -> HTTPError {
            HTTPError(
                .connection, HTTPError.transportClosed.message, request: request,
                phase: handle.map { phase($0) } ?? .notSent
            ).refusedHere
        }

        func timeoutError() -> HTTPError {
            if admission.isWaiting {
                return HTTPError(
                    .timeout, "No connection was free within the time allowed.", request: request, phase: .notSent
                ).refusedHere
            }
            let what = head.isComplete || isUploading ? "No byte of a body moved" : "The head of the response didn't come"
            var error = HTTPError(
                .timeout, "\(what) within the time allowed.", request: request,
                phase: handle.map { phase($0) } ?? .maybeProcessed)
            error.metrics = handle.map { metricsSoFar($0) }
            return error
        }
    }
#endif
