#if os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// A transfer whose bytes curl moves.
    final class CurlTransfer: Transfer, HandleUser, @unchecked Sendable {
        private(set) var curlLoop: any CurlTransferLoop
        private(set) var handle: EasyHandle?
        /// The socket of its connection; nil before the first, and where it isn't known.
        var descriptor: Int32?
        var tlsVersion: String?
        /// What curl has measured of it once it has ended well.
        private var measured: TransportMetrics?
        /// How long it has waited for a place before curl had it, in nanoseconds.
        private var waited: UInt64 = 0
        /// Whether curl was allowed one of the addresses that it wanted to connect to, for its present connection; nil: it wanted none.
        private var hasAllowedAddress: Bool?
        /// Curl's list with the request's own address, which lives as long as curl may read it.
        private var address: UnsafeMutablePointer<curl_slist>?
        /// For a body that ends with its connection: whether TLS was ended as well; nil: not known.
        var isClosedAsAgreed: Bool?
        /// Curl would send again what was answered with a 417.
        private var isExpectationRefused = false

        init(_ request: HTTPRequest, _ options: ExchangeOptions, loop: any CurlTransferLoop, group: any Sendable) {
            curlLoop = loop
            super.init(request, options, loop: loop, owner: group)
        }

        deinit { curl_slist_free_all(address) }

        override func didMove() {
            // A group's loops are of one kind.
            if let loop = loop as? any CurlTransferLoop { curlLoop = loop }
        }

        // MARK: Where it is connected to

        /// Whether a socket may be connected to an address that curl has found.
        func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
            let allowed = curlLoop.options.allowed
            if allowed.isAny { return true }
            // The address goes on behind what is declared.
            let start = UnsafeRawPointer(address) + (MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
            let isAllowed = allowed.contains(start.assumingMemoryBound(to: sockaddr.self))
            hasAllowedAddress = isAllowed || hasAllowedAddress == true
            return isAllowed
        }

        /// Has the connection lead to the request's own address, if it has one.
        ///
        /// - Throws: ``HTTPError`` when that can't be.
        func prepareAddress(_ handle: EasyHandle) throws {
            guard let text = request.address else { return }
            let configuration = curlLoop.options.configuration
            guard configuration.proxy == .direct, configuration.unixSocketPath == nil else {
                throw HTTPError.unsupported("A request with an address can't go through a proxy or a unix domain socket.")
            }
            guard let entry = AddressText(text) else { throw HTTPError.noAddress }
            curl_slist_free_all(address)
            // Of any host and port.
            address = curl_slist_append(nil, "::\(entry.hostInURL):\(entry.port.map { "\($0)" } ?? "")")
            handle.set(CURLOPT_CONNECT_TO, pointer: address)
            handle.spoil()
        }

        // MARK: The loop's steps

        func begin(with handle: EasyHandle) {
            assert(loop.isCurrent)
            self.handle = handle
            // Of which the former is when it was admitted.
            waited = lastActivity - startTime
            handle.response.pointee.begin(clock: loop.clock)
        }

        /// Gives back the handle; nil when there is none.
        func end() -> EasyHandle? {
            assert(loop.isCurrent)
            return handle.take()
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

        override func resumeReceiving() {
            guard isReceivingPaused, let handle else { return }
            isReceivingPaused = false
            unpause(handle)
        }

        override func resumeSending() {
            guard isSendingPaused, let handle else { return }
            // What has come may be the end alone: until now the body was on its way.
            loop.expectDeadline(of: self)
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
            loop.post(.fail(self, failure ?? HTTPError(code, of: self, handle, phase: phase)))
        }

        // MARK: Ends

        /// Takes what curl has left for a transfer that it has ended.
        ///
        /// - Throws: What its result means, unless that is a success.
        func conclude(_ code: CURLcode, _ handle: EasyHandle) throws {
            if let failure { throw failure }
            guard code == CURLE_OK || isExpectationRefused else { throw error(code, handle) }
            guard head.isComplete else { throw endWithinHead(handle) }
            if isClosedAsAgreed == false {
                throw HTTPError(
                    .connectionLost, "The connection was closed without TLS's end, so that the body may have been cut.",
                    request: request, phase: .answered)
            }
            if let decoder, !decoder.isComplete { throw DecodingFault.truncated.error(request, ratio: nil) }
            takeBufferedBody(handle)
            measured = TransportMetrics(handle, tlsVersion: tlsVersion)
        }

        private func error(_ code: CURLcode, _ handle: EasyHandle) -> HTTPError {
            guard hasAllowedAddress == false, phase == .notSent else {
                return HTTPError(code, of: self, handle, phase: phase)
            }
            var error = HTTPError.noAllowedAddress(of: URLText(request.urlText).host.map(String.init) ?? "the URL")
            error.request = request
            return error
        }

        private func endWithinHead(_ handle: EasyHandle) -> HTTPError {
            // Curl takes a connection that is closed within a head for the end of a response without a body.
            let isSwitch = handle.long(CURLINFO_RESPONSE_CODE) == 101
            return HTTPError(
                isSwitch ? .protocolViolation : .connectionLost,
                isSwitch ? HeadReader.Fault.switchedProtocols.message : "The connection was closed within the head.",
                request: request, phase: .maybeProcessed)
        }

        override var phase: HTTPError.Phase {
            guard let handle else { return .notSent }
            if head.isComplete { return .answered }
            // The size is that of the sent heads, so zero means that the connection died under the first byte.
            return isBegun && handle.long(CURLINFO_REQUEST_SIZE) > 0 ? .maybeProcessed : .notSent
        }

        // MARK: Sending

        /// Called when a connection stands and the request is about to be sent; false stops it.
        func willSend(over ends: ConnectionEnds, localPort: Int32) -> Bool {
            assert(loop.isCurrent)
            guard !isBegun || maySendAgain() else { return false }
            guard let handle else { return false }
            hasAllowedAddress = nil
            noteActivity()
            // Nothing leaves on a buried connection: curl tries the next one, and this counts for nothing.
            guard
                curlLoop.takeConnection(
                    for: self, isNew: handle.long(CURLINFO_NUM_CONNECTS) > 0, localPort: localPort, ends: ends)
            else {
                return true
            }
            if isBegun { noteResend() }
            isBegun = true
            return true
        }

        /// Curl sends again by itself when a kept connection turns out to be dead. Whether the server has seen the first try is unknown, so only
        /// what may be repeated is. It also asks again for what has an answer already, after HTTP_1_1_REQUIRED and after a 417, whose body it
        /// has thrown away by then.
        private func maySendAgain() -> Bool {
            isExpectationRefused = head.isComplete && head.status == 417 && request.headers.contains(.expect)
            guard !isExpectationRefused else { return false }
            guard hasBegunToAnswer || !mayBeRepeated else { return true }
            failure = HTTPError(
                .connectionLost,
                hasBegunToAnswer
                    ? "The server broke off its response." : "The kept connection was closed before an answer came.",
                request: request, phase: head.isComplete ? .answered : .maybeProcessed)
            return false
        }

        var hasBegunToAnswer: Bool { head.status > 0 || handle?.response.pointee.head.isEmpty == false }

        /// Gives curl more of the body.
        func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard case .chunks(let feeder) = outgoing else { return 0 }
            guard let count = feeder.read(into: buffer, for: self) else {
                isSendingPaused = true
                return ccurl_pause_reading()
            }
            noteActivity()
            if count == 0, let descriptor, UnsentEnds.leave(feeder.length, mayBeHTTP3: curlLoop.options.http3.isOffered) {
                curlLoop.lookSoon(at: descriptor)
            }
            return count
        }

        override var isUploading: Bool {
            guard let handle else { return false }
            switch outgoing {
            case .none, .file: return false
            case .bytes(let bytes): return handle.offset(CURLINFO_SIZE_UPLOAD_T) < Int64(bytes.count)
            case .chunks(let feeder):
                guard feeder.isDrained else { return true }
                return feeder.length.map { handle.offset(CURLINFO_SIZE_UPLOAD_T) < $0 } ?? false
            }
        }

        override var uploadedBytes: Int64 { handle?.offset(CURLINFO_SIZE_UPLOAD_T) ?? 0 }

        override var lastReceived: UInt64 { handle?.response.pointee.lastActivity ?? 0 }

        override func measure(_ metrics: inout TransportMetrics) {
            if let known = measured ?? handle.map({ metricsSoFar($0) }) { metrics = known }
            if waited > 0 { metrics.begin(earlierBy: .nanoseconds(waited)) }
        }

        /// Whether the response is whole while the request isn't.
        private var isAnsweredEarly: Bool {
            guard head.isComplete, let handle, let expectedLength, !isReceivingPaused, isUploading else { return false }
            return EarlyAnswers.isWhole(handle.curl, length: expectedLength)
        }
    }

    extension Transfer {
        /// As this transport's; no other's comes to its loops.
        var curl: CurlTransfer { unsafeDowncast(self, to: CurlTransfer.self) }
    }
#endif
