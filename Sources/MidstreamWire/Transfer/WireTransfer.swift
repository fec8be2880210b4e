#if os(Linux)
    internal import MidstreamCore
    internal import MidstreamLoop
    internal import MidstreamTransport

    /// What moves the bytes of a transfer that is under way.
    protocol TransferConnection: AnyObject {
        /// Goes on receiving.
        func receive()
        /// Goes on sending.
        func send()
        /// The transfer has ended, or is given up; after a clean end the connection may be used again as far as it is concerned.
        func letGo(_ transfer: WireTransfer, isClean: Bool)
    }

    /// A transfer over a connection of ours.
    final class WireTransfer: Transfer, @unchecked Sendable {
        let settings: WireSettings
        let framing: RequestFraming
        let route: Route
        /// Of what becomes, or may become, a connection for another protocol.
        let pipe: Pipe?
        /// That of an https request.
        let tls: TLSContext?

        // Touched only on the loop's thread.
        @exclusivity(unchecked) var bodyFraming = RequestHead.BodyFraming.none
        /// What it is under way with: a connection, or what is being set up for it.
        @exclusivity(unchecked) var connection: (any TransferConnection)?
        /// How often a server has refused it unseen.
        @exclusivity(unchecked) private(set) var refusals = 0
        /// A server may have seen an earlier try.
        @exclusivity(unchecked) private(set) var isInDoubt = false
        /// How much of the request has left, for this try.
        @exclusivity(unchecked) var sent = Sent()
        /// The body waits for the server's leave.
        @exclusivity(unchecked) private(set) var isBodyHeld = false
        @exclusivity(unchecked) var measured = Measured()

        struct Sent {
            var bytes: Int64 = 0
            var bodyBytes: Int64 = 0
            /// Nothing of the request is left.
            var isWhole = false
        }

        /// Times in nanoseconds of the monotonic clock; zero: not reached.
        struct Measured {
            /// When it began to wait for a connection.
            var waitsSince: UInt64 = 0
            /// When it had begun to wait for the new connection that it has.
            var connectStart: UInt64 = 0
            var times = DialTimes()
            var began: UInt64 = 0
            var firstByte: UInt64 = 0
            /// All that have come on the wire, and those of the body among them.
            var bytes: Int64 = 0
            var bodyBytes: Int64 = 0
            var isReused: Bool?
            var endpoints: Endpoints?
        }

        /// - Parameter isPipe: Whether a connection is all that is wanted: nothing is sent over it.
        init(
            _ request: HTTPRequest, _ options: ExchangeOptions, settings: WireSettings, tls: TLSContext?, loop: any TransferLoop,
            owner: any Sendable, isPipe: Bool = false
        ) {
            self.settings = settings
            self.tls = tls
            framing = RequestFraming(request)
            let isUpgrade = framing.has(.upgrade) && options.delivery == .streamed
            pipe = isPipe || isUpgrade ? Pipe() : nil
            route =
                pipe == nil
                ? settings.route(of: request.urlText, address: request.address)
                : Route(request.urlText, settings.routes, address: request.address, isTunnel: true)
            super.init(request, options, loop: loop, owner: owner)
            guard let pipe else { return }
            isPiped = isPipe
            head.allowsSwitch = isUpgrade
            writer = PipeWriter(pipe: pipe, loop: loop)
        }

        override func didMove() {
            if let pipe { writer = PipeWriter(pipe: pipe, loop: loop) }
        }

        /// Decides how the request is sent.
        ///
        /// - Throws: ``HTTPError``; nothing has been sent.
        func prepare() throws {
            if let problem = settings.problem { throw problem }
            if !options.isChecked { try request.checkSendable() }
            try route.check(settings)
            decodes = settings.acceptEncoding != nil && pipe == nil && mayDecode(framing)
            guard framing.hasBody, request.method != .head else { return }
            // It is kept while the transfer waits once more.
            guard case .none = outgoing else { return }
            if let bytes = request.body.bytes {
                bodyFraming = .length(Int64(bytes.count))
                if !bytes.isEmpty { outgoing = .bytes(bytes) }
            } else {
                bodyFraming = try prepareChunks(sendsFiles: isInTheClear).map { .length($0) } ?? .chunked
            }
        }

        /// Whether the request's bytes go to the socket as they are.
        private var isInTheClear: Bool {
            tls == nil && route.proxy?.isSecure != true && settings.configuration.httpVersions != .http2PriorKnowledge
        }

        var requestHead: RequestHead {
            RequestHead(
                request: route.zone == nil ? request : requestWithoutZone, framing: framing, bodyFraming: bodyFraming,
                acceptEncoding: decodes && !framing.has(.acceptEncoding) ? settings.acceptEncoding : nil,
                isForwarded: route.isForwarded, proxyAuthorization: route.isForwarded ? route.proxy?.authorization : nil)
        }

        private var requestWithoutZone: HTTPRequest {
            var url = URLText(request.urlText)
            url.authority = "\(route.host)\(url.portText.map { ":\($0)" } ?? "")"
            var request = request
            request.urlText = url.text
            return request
        }

        // MARK: The loop's steps

        func settle() {
            answer()
            if stream?.deliver() == true { resumeReceiving() }
        }

        override var hostKey: Int { route.hostKey }

        override func resumeReceiving() {
            guard isUnderWay else { return }
            if isReceivingPaused {
                isReceivingPaused = false
                noteActivity()
                loop.expectDeadline(of: self)
            }
            connection?.receive()
        }

        override func resumeSending() {
            guard isUnderWay else { return }
            if isSendingPaused {
                isSendingPaused = false
                noteActivity()
                loop.expectDeadline(of: self)
            }
            connection?.send()
        }

        override var isUploading: Bool {
            if case .none = outgoing { return false }
            return !sent.isWhole
        }

        override var uploadedBytes: Int64 { sent.bodyBytes }

        override var phase: HTTPError.Phase {
            if head.isComplete { return .answered }
            return sent.bytes > 0 || isInDoubt ? .maybeProcessed : .notSent
        }

        /// Begins to wait for a connection, unless it does; what was measured of one that is lost is none of this one's.
        func expectConnection() {
            if measured.waitsSince == 0 { measured = Measured(waitsSince: MonotonicTime.now()) }
        }

        /// Begins anew, on a connection that stands; one that was made for this transfer gives its times.
        func willSend(over endpoints: Endpoints, _ made: DialTimes?) {
            expectSending()
            sent = Sent()
            isBodyHeld = framing.has(.expect) && isUploading
            isSendingPaused = isBodyHeld
            let times = made ?? DialTimes()
            // The loop's time is that of its last wait, and the connection may have come to stand since.
            let began = max(loop.now, times.connected, times.secured)
            // One that was made ahead may have died since, like one that has served.
            measured = Measured(
                connectStart: made == nil ? 0 : measured.waitsSince, times: times, began: began, isReused: made == nil,
                endpoints: endpoints)
        }

        /// Sends the body that was kept back, if it was.
        func releaseBody() {
            guard isBodyHeld else { return }
            isBodyHeld = false
            resumeSending()
        }

        /// Reads a head of the response, and gives the fields of the final one to `begin`; false stops the transfer.
        func take(head bytes: UnsafeRawBufferPointer, status: Int, then begin: (ReceivedFields) -> Void) -> Bool {
            switch read(head: bytes, status: status) {
            case .interim(let fields):
                completeInterim(HTTPHeaders(lines: fields.bytes))
                if status == 100 { releaseBody() }
            case .complete(let fields):
                guard takeHead(fields) else { return false }
                begin(fields)
            case .refused(let fault): return violate(fault.message)
            }
            return true
        }

        /// Whether the request can go out again when its connection has died: a kept one, without a byte of an answer. Once at most when the
        /// server may have seen it, and never when the body would have to be read a second time.
        var mayGoOutAgain: Bool {
            measured.isReused == true && measured.firstByte == 0 && canBeSentAgain
                && (sent.bytes == 0 || (!isInDoubt && mayBeRepeated))
        }

        /// What a connection's end means: of TLS, as long as nothing has come over it.
        func code(of failure: ChannelFailure?) -> HTTPError.Code {
            if case .tls = failure, measured.firstByte == 0 { .tls } else { .connectionLost }
        }

        /// Whether nothing of its body would have to be read a second time.
        var canBeSentAgain: Bool {
            if case .chunks(let feeder) = outgoing { return feeder.isUntouched }
            return true
        }

        /// Notes that it goes out again after its connection has died.
        func noteLoss() {
            expectResending()
            guard sent.bytes > 0 else { return }
            isInDoubt = true
            noteResend()
        }

        /// Notes that it goes out again after a server has refused it unseen, perhaps while it waited to be sent.
        func noteRefusal() {
            refusals += 1
            if sent.bytes > 0 { noteResend() }
            sent = Sent()
            expectResending()
        }

        /// A body that had left isn't looked at any more, and is again now.
        private func expectResending() {
            expectSending()
            loop.expectDeadline(of: self)
        }

        // MARK: Metrics

        override func measure(_ metrics: inout TransportMetrics) {
            metrics.nameLookup = time(to: measured.times.found)
            metrics.connect = time(to: measured.times.connected)
            metrics.tlsHandshake = time(to: measured.times.secured)
            metrics.sendStart = time(to: measured.began)
            metrics.firstByte = time(to: measured.firstByte)
            metrics.total = time(to: MonotonicTime.now())
            if let ends = measured.endpoints {
                metrics.remoteAddress = ends.remote?.address
                metrics.remotePort = ends.remote?.port
                metrics.localAddress = ends.local?.address
                metrics.localPort = ends.local?.port
                metrics.tlsVersion = ends.tlsVersion
                metrics.isResumedSession = ends.isResumedSession
                metrics.connection = ends.number
            }
            metrics.isReusedConnection = measured.isReused
            metrics.requestBodyBytes = sent.bodyBytes
            metrics.responseBodyBytes = measured.bodyBytes
            metrics.bytesSent = sent.bytes
            metrics.bytesReceived = measured.bytes
            if measured.isReused == true {
                // As for every phase that was over before the exchange began.
                (metrics.nameLookup, metrics.connect) = (.zero, .zero)
                if metrics.tlsVersion != nil { metrics.tlsHandshake = .zero }
            } else {
                metrics.connectStart = time(to: max(measured.connectStart, measured.waitsSince))
            }
        }
    }

    /// When what a new connection takes was done, in nanoseconds of the monotonic clock; zero: not yet.
    struct DialTimes {
        var found: UInt64 = 0
        var connected: UInt64 = 0
        var secured: UInt64 = 0
    }

    extension Transfer {
        /// As this transport's; no other's comes to its loops.
        var wire: WireTransfer { unsafeDowncast(self, to: WireTransfer.self) }
    }
#endif
