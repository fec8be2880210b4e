#if os(Linux)
    package import Interception
    public import MidstreamCore
    import Synchronization

    /// How a transfer's body is sent.
    package enum OutgoingBody {
        case none
        /// Bytes that are sent from where they are.
        case bytes([UInt8])
        case chunks(UploadFeeder)
        /// A file that the system sends.
        case file(FileFeeder)
    }

    /// One exchange as its loop sees it, from the request to the end of the response, whatever moves its bytes: a transport's own class
    /// says how that is done.
    ///
    /// `@unchecked Sendable`: the constants are readable anywhere; `continuation` is set before the transfer is posted, and from then on all
    /// variables are touched only on the loop's thread. `loop` is set once more at most, on the thread of the first, before the transfer is
    /// posted to the second. The reader of a streamed body shares a ``BodyStream`` with the loop.
    ///
    /// `@exclusivity(unchecked)` stands, here and in what a loop's thread touches besides, where a variable is only read and set as a whole, or
    /// changed in place by what knows nothing of the variable's owner, so that accesses can't overlap: the checks took a fifth of a request's
    /// instructions. Other modules don't see it in a variable that is final and that they read themselves; what they need of a response in each
    /// exchange isn't final, therefore.
    open class Transfer: @unchecked Sendable {
        package final let request: HTTPRequest
        package final let options: ExchangeOptions
        /// The one that it was made for, or the one that it has gone over to before it began.
        @exclusivity(unchecked) package private(set) final var loop: any TransferLoop
        /// Whether the URL is an https one.
        package final let isSecure: Bool
        /// Where a streamed body of the request is read: where its caller's tasks run, but for a file, whose disk no loop may wait for.
        package final let bodyExecutor: CallersExecutor?
        /// Of a body that isn't in memory.
        final let foundBody: FoundBody?
        /// Keeps the loop going.
        private let owner: any Sendable

        @exclusivity(unchecked) private var continuation: UnsafeContinuation<ArrivedResponse, any Error>?
        /// Orders what the loop wrote before what its caller reads, as the runtime does, too, but where the thread sanitizer can't see it.
        private let isAnswered = Atomic<Bool>(false)
        @exclusivity(unchecked) package final var admission = AdmissionState.none
        /// It has been admitted and hasn't ended.
        @exclusivity(unchecked) private(set) package final var isUnderWay = false
        /// Its index among those that are.
        @exclusivity(unchecked) package final var place = 0
        /// Cancelled, perhaps before the start.
        @exclusivity(unchecked) package final var isGivenUp = false
        /// It is among those that the loop will settle.
        @exclusivity(unchecked) package final var isUnsettled = false
        /// Why no more is taken from the server.
        @exclusivity(unchecked) package final var failure: (any Error)?

        // The request's way out.
        @exclusivity(unchecked) package var outgoing = OutgoingBody.none
        /// Sending has begun.
        @exclusivity(unchecked) package final var isBegun = false
        /// Another loop may not know what this one has found out about its host.
        @exclusivity(unchecked) private(set) final var staysOnLoop = false
        /// How many times it has begun again.
        @exclusivity(unchecked) package final var resends = 0
        @exclusivity(unchecked) package var isSendingPaused = false

        // The response's way in.
        @exclusivity(unchecked) package final var head = HeadReader()
        @exclusivity(unchecked) package var headers = HTTPHeaders()
        @exclusivity(unchecked) package final var interim: [InterimResponse] = []
        /// A buffered body.
        @exclusivity(unchecked) package final var received = ReceivedBytes()
        @exclusivity(unchecked) package final var stream: BodyStream?
        @exclusivity(unchecked) package var isReceivingPaused = false
        /// Its connection carries another protocol than HTTP.
        @exclusivity(unchecked) package var isPiped = false
        /// What writes to the connection where that may carry another protocol.
        @exclusivity(unchecked) package final var writer: (any ByteWriter)?
        /// It shares its connection with nobody, whatever its host speaks.
        package final var hasOwnConnection: Bool { writer != nil }
        /// The transport has asked for encodings.
        @exclusivity(unchecked) package var decodes = false
        /// Those of the body, in the order in which they were applied.
        @exclusivity(unchecked) package final var codings: [ContentCoding] = []
        /// Nil before the body's first byte.
        @exclusivity(unchecked) package var decoder: BodyDecoding?
        /// Checks the encoded bytes.
        @exclusivity(unchecked) package final var encodedCheck: BodyCheck?
        /// How much has been decoded of a piece that will be handed over again.
        @exclusivity(unchecked) package final var decodedOfPiece = 0
        /// The body's length on the wire; nil: not known.
        @exclusivity(unchecked) package var expectedLength: Int64?
        /// The body's length once decoded; nil: not known.
        @exclusivity(unchecked) package final var decodedLength: Int64?

        @exclusivity(unchecked) package final var startTime: UInt64 = 0
        /// When the exchange has taken too long, in nanoseconds of the monotonic clock; `.max`: never, as from a streamed one's head on,
        /// since its reader may take its time.
        @exclusivity(unchecked) package final var timeLimit: UInt64 = .max
        @exclusivity(unchecked) package final var lastActivity: UInt64 = 0
        @exclusivity(unchecked) private var lastUploaded: Int64 = 0
        /// Until when the request's body has been on its way, as far as looks for the sake of the head's limit can tell.
        @exclusivity(unchecked) private var lastSending: UInt64 = 0

        package init(_ request: HTTPRequest, _ options: ExchangeOptions, loop: any TransferLoop, owner: any Sendable) {
            self.request = request
            self.options = options
            self.loop = loop
            isSecure = request.urlText.hasSecureScheme
            self.owner = owner
            bodyExecutor =
                request.body.bytes != nil ? nil : request.body.filePath != nil ? CallersExecutor(nil) : CallersExecutor()
            foundBody = bodyExecutor == nil ? nil : FoundBody(of: request)
        }

        /// Has the exchange happen on the transfer's loop. A buffered response comes with its body in memory, and the caller is resumed once.
        nonisolated(nonsending) package final func response() async throws -> ArrivedResponse {
            defer { _ = isAnswered.load(ordering: .acquiring) }
            // Whatever loop it is on when it is cancelled.
            let home = loop
            return try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { start(resuming: $0) }
            } onCancel: {
                home.post(.cancel(self))
            }
        }

        /// Has it begin on another loop than the one where it waits, once.
        final func move(to loop: any TransferLoop) {
            assert(self.loop.isCurrent && !isUnderWay && !staysOnLoop)
            self.loop = loop
            didMove()
        }

        /// Hands the transfer to its loop, which resumes the continuation once. Not inlined, to keep async frames small.
        @inline(never)
        private func start(resuming continuation: UnsafeContinuation<ArrivedResponse, any Error>) {
            self.continuation = continuation
            if !loop.drive(self), !loop.post(.start(self)) { complete(HTTPError.transportClosed) }
        }

        /// Of its URL, as it is told.
        package final var origin: String? { HTTPOrigin(request.urlText)?.description }

        /// Notes that the request goes out a second time, although the server may have seen it.
        package final func noteResend() {
            resends += 1
            options.budget?.count(resends: 1)
        }

        // MARK: What moves the bytes says

        /// By what the connections to its host are counted: ``Admission/hostKey(of:at:)``.
        open var hostKey: Int { Admission.hostKey(of: request.urlText, at: request.address) }
        /// The transfer will begin on another loop than it was made for.
        open func didMove() {}
        /// Goes on with the piece of the body that was refused.
        open func resumeReceiving() {}
        /// Goes on sending a body of which there was nothing more.
        open func resumeSending() {}
        /// Whether a part of the request's body is still to be sent.
        open var isUploading: Bool { false }
        /// How much of the request's body has left.
        open var uploadedBytes: Int64 { 0 }
        /// When a byte of the body last came, as far as ``lastActivity`` doesn't say; in nanoseconds of the monotonic clock.
        open var lastReceived: UInt64 { 0 }
        /// How far the exchange is, as far as the server is concerned.
        open var phase: HTTPError.Phase { .notSent }
        /// Adds what has been measured so far; once it has ended well, all of it.
        open func measure(_ metrics: inout TransportMetrics) {}

        package final var metrics: TransportMetrics {
            var metrics = TransportMetrics()
            measure(&metrics)
            metrics.resends = resends
            metrics.interim = interim
            return metrics
        }

        /// The error that it ends with, and what has been measured until now.
        final func withMetrics(_ error: any Error) -> any Error {
            guard var failure = error as? HTTPError else { return error }
            failure.metrics = metrics
            return failure
        }

        /// From the start of the exchange to a moment of the monotonic clock; nil for zero, which is one that hasn't come.
        package final func time(to moment: UInt64) -> Duration? {
            guard moment > 0 else { return nil }
            return .nanoseconds(Int64(clamping: moment > startTime ? moment - startTime : 0))
        }

        // MARK: The loop's steps

        /// Waits for a connection; the limits that count from the start of the exchange count from now.
        final func beginWaiting() {
            if startTime == 0 { begin(at: MonotonicTime.now()) }
        }

        /// Begins with a connection of its own or without, as the transport does.
        final func beginUnderWay(at place: Int) {
            assert(loop.isCurrent)
            self.place = place
            isUnderWay = true
            lastActivity = MonotonicTime.now()
            if startTime == 0 { begin(at: lastActivity) }
        }

        private func begin(at time: UInt64) {
            startTime = time
            if let limit = options.timeLimit { timeLimit = time + limit.wholeNanoseconds }
        }

        /// Isn't under way any more, and keeps what it needs to be so again.
        final func expectPlace() {
            assert(loop.isCurrent && isUnderWay)
            isUnderWay = false
            staysOnLoop = true
        }

        /// Lets go of all but what its caller gets.
        final func endUnderWay() {
            assert(loop.isCurrent)
            isUnderWay = false
            decoder = nil
            switch outgoing {
            case .none, .bytes: break
            case .chunks(let feeder): feeder.stop()
            case .file(let feeder): feeder.stop()
            }
            outgoing = .none
        }

        /// Notes that sending is to begin, perhaps again.
        package final func expectSending() {
            isBegun = false
            isSendingPaused = false
        }

        /// Notes that sending begins.
        package final func noteSending() {
            isBegun = true
            noteActivity()
        }

        /// Has the loop settle the transfer once the present event is dealt with.
        package final func markUnsettled() {
            guard !isUnsettled else { return }
            isUnsettled = true
            loop.settleLater(self)
        }

        package final func noteActivity() {
            assert(loop.isCurrent)
            lastActivity = loop.now
        }

        /// Whether the request may go out again when the server may have seen it (RFC 9110 §9.2.2).
        package final var mayBeRepeated: Bool {
            request.method.isIdempotent || request.allowsUnsafeRetry || request.headers.contains(.idempotencyKey)
        }

        // MARK: Ends

        /// Tells the caller, or the reader of the stream, that it has ended; without a failure its response is whole.
        final func complete(_ failure: (any Error)?) {
            if let failure { return tell(failure) }
            let trailers = head.takeTrailers()
            do {
                try encodedCheck?.atEnd(trailers)
            } catch {
                return tell(withMetrics(error))
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
            resume(with: .success(arrived))
        }

        private func tell(_ error: any Error) {
            guard let stream else {
                if let response = head(endingWith: error) { return resume(with: .success(ArrivedResponse(response: response))) }
                return resume(with: .failure(ofRefusal(error)))
            }
            stream.finish(error, trailers: nil, metrics: nil)
            // The error is the stream's to report, but a caller that has been cancelled wants no response.
            if !(error is CancellationError) { answer() }
            resume(with: .failure(error))
        }

        /// Gives the caller the head, with a body that is still arriving; does nothing a second time. Called once an event is dealt with, so
        /// that what came together with the head can be read without another wait.
        package final func answer() {
            guard let stream, continuation != nil else { return }
            let body = IncomingTransferBody(stream)
            var response = HTTPResponse(
                status: HTTPStatus(head.status), headers: headers, body: .incoming(body, length: decodedLength), request: request,
                version: head.version)
            if isPiped { response.writer = writer }
            resume(with: .success(ArrivedResponse(response: response)))
        }

        /// Resumes the caller, once.
        private func resume(with outcome: Result<ArrivedResponse, any Error>) {
            guard let continuation else { return }
            self.continuation = nil
            isAnswered.store(true, ordering: .releasing)
            continuation.resume(with: outcome)
        }

        // MARK: Deadlines

        /// When the exchange has taken too long if nothing happens until then, its ``timeLimit`` apart; in nanoseconds of the monotonic clock;
        /// nil: never.
        package final func deadline() -> UInt64? {
            let limits = loop.limits
            if stream != nil, isPiped { return nil }
            if head.isComplete {
                guard let limit = limits.idle, !isReceivingPaused, !request.limitsSilenceItself else { return nil }
                return max(lastActivity, lastReceived) + limit
            }
            let due = limits.head.flatMap { headDeadline($0) }
            guard !admission.isWaiting, let limit = limits.idle, let stall = sendingDeadline(limit) else { return due }
            return min(due ?? .max, stall)
        }

        /// A body takes as long as its way does, and the server's time begins when all of it has left, for which is looked from time to time.
        private func headDeadline(_ limit: UInt64) -> UInt64? {
            let due = max(startTime, lastSending) + limit
            guard isUploading || isSendingPaused else { return due }
            let nextLook = loop.now + loop.limits.grain
            guard isBegun else { return min(due, nextLook) }
            lastSending = nextLook
            return isSendingPaused ? nil : nextLook
        }

        /// Bytes in memory leave without anyone's notice, so their count is looked at from time to time.
        private func sendingDeadline(_ limit: UInt64) -> UInt64? {
            if case .none = outgoing { return nil }
            guard !isSendingPaused else { return nil }
            let nextLook = loop.now + loop.limits.grain
            guard isBegun else { return nextLook }
            guard isUploading else { return nil }
            let uploaded = uploadedBytes
            if uploaded != lastUploaded {
                lastUploaded = uploaded
                noteActivity()
            }
            let stall = lastActivity + limit
            return stall <= loop.now ? stall : min(stall, nextLook)
        }

        /// Whether a part of the request's body is still to be sent over a connection that stands.
        private var isSending: Bool { isBegun && isUploading }

        /// Whether the server waits for a piece of the request's body that isn't there.
        package final var awaitsBody: Bool {
            // Leave to send it is waited for as well.
            guard isSendingPaused else { return false }
            return switch outgoing {
            case .none, .bytes: false
            case .chunks(let feeder): feeder.isAwaited
            case .file(let feeder): feeder.isAwaited
            }
        }

        /// What the transfer ends with when its transport is closed.
        package final func closedError() -> HTTPError {
            HTTPError(.connection, HTTPError.transportClosed.message, request: request, phase: phase).refusedHere.forGood
        }

        package final func timeoutError() -> HTTPError {
            if admission.isWaiting {
                let error = HTTPError(.timeout, "No connection was free within the time allowed.", request: request, phase: phase)
                return phase == .notSent ? error.refusedHere : error
            }
            if awaitsBody {
                let message = "The request's body didn't come within the time allowed."
                return HTTPError(.timeout, message, request: request, phase: phase).refusedHere
            }
            let what: String =
                if timeLimit > loop.now {
                    head.isComplete || isSending ? "No byte of a body moved" : "The head of the response didn't come"
                } else if isSending {
                    "The request's body wasn't sent"
                } else if isPiped {
                    "The connection didn't stand"
                } else {
                    options.delivery == .streamed ? "The head of the response didn't come" : "The response wasn't whole"
                }
            return HTTPError(.timeout, "\(what) within the time allowed.", request: request, phase: phase)
        }
    }
#endif
