#if os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamCore
    internal import MidstreamLoop

    /// What a transfer does with the bytes that curl gives it.
    extension CurlTransfer {
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

        private func completeHead(_ fields: ReceivedFields, _ handle: EasyHandle) -> Bool {
            noteTLSVersion()
            guard takeHead(fields) else { return false }
            if head.version.sharesConnections { curlLoop.shareConnections(of: self) }
            if isSecure, expectedLength == nil, isEndedByConnection(fields) { HandleCallbacks.installLook(on: handle) }
            let isUploading = isUploading || isSendingPaused
            if isUploading { markUnsettled() }
            if case .buffered(let limit) = options.delivery {
                if codings.isEmpty, !isUploading, decodedLength ?? 0 <= Int64(ResponseBuffer.bodyLimit) {
                    handle.response.pointee.openBody(room: limit)
                } else if let decodedLength {
                    // A lying server gets no more memory than it sends for, past a mebibyte.
                    received.reserveCapacity(Int(min(decodedLength, 1 << 20)))
                }
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
            if let handle { takeBufferedBody(handle) }
            return switch take(bytes) {
            case .taken: bytes.count
            case .later: ccurl_pause_writing()
            case .refused: 0
            }
        }

        /// Takes over what the handle's buffer holds of the body; what follows comes here.
        func takeBufferedBody(_ handle: EasyHandle) {
            let body = handle.response.pointee.body
            if !body.isEmpty { received.append(body) }
            handle.response.pointee.closeBody()
        }

        func lookAtConnection() {
            if let handle { isClosedAsAgreed = UncheckedTLSEnds.isAnnounced(handle.curl) ?? isClosedAsAgreed }
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
#endif
