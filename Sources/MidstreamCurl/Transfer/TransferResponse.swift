#if Curl && os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamCore

    /// What a transfer does with the bytes that come back.
    extension Transfer {
        /// Reads the head that the handle's buffer holds; false stops the transfer.
        func receiveHead() -> Bool {
            guard let handle else { return false }
            switch head.read(handle.response.pointee.head, status: handle.long(CURLINFO_RESPONSE_CODE)) {
            case .interim(let fields):
                completeInterim(HTTPHeaders(lines: fields.bytes))
                handle.response.pointee.beginNextHead()
                return true
            case .complete(let fields):
                handle.response.pointee.endHeads()
                return completeHead(fields, handle)
            case .refused(let fault): return violate(fault.message)
            }
        }

        func refuseHead() { _ = violate(HeadReader.Fault.tooLarge.message) }

        func receive(trailer line: UnsafeRawBufferPointer) -> Bool {
            head.read(trailer: line).map { violate($0.message) } ?? true
        }

        private func completeInterim(_ fields: HTTPHeaders) {
            // It answers an `Expect` of the transport's.
            guard head.status != 100 else { return }
            let response = InterimResponse(status: HTTPStatus(head.status), headers: fields)
            interim.append(response)
            request.onInterim?(response)
        }

        /// Ends the transfer because of what the server has sent.
        private func violate(_ message: String) -> Bool {
            failure = HTTPError(
                .protocolViolation, message, request: request, phase: head.isComplete ? .answered : .maybeProcessed)
            return false
        }

        private func completeHead(_ fields: ReceivedFields, _ handle: EasyHandle) -> Bool {
            noteActivity()
            headers = HTTPHeaders(lines: fields.bytes)
            if head.version == .http2 { loop.shareConnections(of: self) }
            let isBodiless = request.method == .head || head.status == 204 || head.status == 304
            guard readLength(fields, isBodiless: isBodiless) else { return false }
            decodedLength = expectedLength
            if isSecure, expectedLength == nil, isEndedByConnection(fields) { HandleCallbacks.installLook(on: handle) }
            // A part of an encoded body can't be decoded.
            if decodes, !isBodiless, head.status != 206 { willDecode(fields) }
            noteTLSVersion()
            let isUploading = isUploading || isSendingPaused
            if isUploading { markUnsettled() }
            switch options.delivery {
            case .streamed:
                stream = BodyStream(resends: resends, interim: interim)
                markUnsettled()
                loop.expectDeadline(of: self)
            case .buffered(let limit):
                if let decodedLength, decodedLength > Int64(limit) { return refuse(limit) }
                if codings.isEmpty, !isUploading, decodedLength ?? 0 <= Int64(ResponseBuffer.bodyLimit) {
                    handle.response.pointee.openBody(room: limit)
                } else if let decodedLength {
                    // A lying server gets no more memory than it sends for, past a mebibyte.
                    received.reserveCapacity(Int(min(decodedLength, 1 << 20)))
                }
                if loop.options.idleLimit != nil { loop.expectDeadline(of: self) }
            }
            return true
        }

        /// Takes a piece of the body; returns curl's result.
        func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
            noteActivity()
            // Curl may hand over more after it was refused a piece from within `curl_easy_pause`.
            guard failure == nil else { return 0 }
            guard head.isComplete else {
                _ = violate("The body of the response began before its head was complete.")
                return 0
            }
            guard codings.isEmpty else { return decode(bytes) }
            guard loop.decoding.takesPiece() else {
                isReceivingPaused = true
                loop.post(.resumeReceiving(self))
                return ccurl_pause_writing()
            }
            return keep(bytes)
        }

        /// Keeps a decoded piece of the body; returns curl's result.
        func keep(_ bytes: UnsafeRawBufferPointer) -> Int {
            if let stream {
                guard stream.append(bytes) else {
                    isReceivingPaused = true
                    return ccurl_pause_writing()
                }
                markUnsettled()
                return bytes.count
            }
            if let handle { takeBufferedBody(handle) }
            guard case .buffered(let limit) = options.delivery, received.count + bytes.count <= limit || refuse(limit)
            else { return 0 }
            received.append(bytes)
            markUnsettledIfUploading()
            return bytes.count
        }

        /// Takes over what the handle's buffer holds of the body; what follows comes here.
        func takeBufferedBody(_ handle: EasyHandle) {
            let body = handle.response.pointee.body
            if !body.isEmpty { received.append(body) }
            handle.response.pointee.closeBody()
        }

        private func refuse(_ limit: Int) -> Bool {
            failure = HTTPError.tooLarge(limit: limit)
            return false
        }

        /// How long the body is (RFC 9112 §6.3). False when the fields contradict themselves: nobody knows then where it ends.
        private func readLength(_ fields: ReceivedFields, isBodiless: Bool) -> Bool {
            if isBodiless {
                expectedLength = 0
                return true
            }
            expectedLength = nil
            // No other coding has been asked for by `TE`. Curl undoes what it knows all the same, without any limit.
            if fields.transferEncoding != .absent, let coding = headers[.transferEncoding] {
                // `identity` is what some old servers say for none; curl reads to the connection's end then.
                return coding.equalsIgnoringASCIICase("chunked") || coding.equalsIgnoringASCIICase("identity")
                    || violateInHead("The response's Transfer-Encoding isn't chunked.")
            }
            if case .once(let place) = fields.contentLength, let length = fields.number(at: place) {
                expectedLength = length
                return true
            }
            guard fields.contentLength != .absent, let text = headers[.contentLength] else { return true }
            // Curl takes one that is too large for none, and the last of several that differ.
            guard let length = HTTPHeaders.contentLength(text) else {
                return violateInHead("The response's Content-Length isn't a number.")
            }
            expectedLength = length
            return true
        }

        /// Whether a body without a length ends with its connection (RFC 9112 §6.3).
        private func isEndedByConnection(_ fields: ReceivedFields) -> Bool {
            guard head.version == .http1_1 || head.version == .http1_0 else { return false }
            return fields.transferEncoding == .absent
                || headers[.transferEncoding]?.equalsIgnoringASCIICase("identity") == true
        }

        func lookAtConnection() {
            if let handle { isClosedAsAgreed = UncheckedTLSEnds.isAnnounced(handle.curl) ?? isClosedAsAgreed }
        }

        /// The head is read, but worth nothing.
        private func violateInHead(_ message: String) -> Bool {
            failure = HTTPError(.protocolViolation, message, request: request, phase: .maybeProcessed)
            return false
        }

        private func markUnsettledIfUploading() {
            if case .none = outgoing { return }
            markUnsettled()
        }

        private static let openSSLVersion = ccurl_find_openssl_version()

        /// Asked while the connection is the transfer's; at the end it no longer is.
        private func noteTLSVersion() {
            guard isSecure, let handle, let version = Self.openSSLVersion,
                let session = ccurl_info_openssl(handle.curl), let name = version(session)
            else { return }
            tlsVersion = String(cString: name)
        }
    }

    extension String {
        /// Whether what is an http or https URL is an https one.
        var hasSecureScheme: Bool { utf8.dropFirst(4).first.map { $0 | 0x20 == UInt8(ascii: "s") } ?? false }
    }
#endif
