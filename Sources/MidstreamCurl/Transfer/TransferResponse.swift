#if Curl && os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamCore

    /// What a transfer does with the bytes that come back.
    extension Transfer {
        /// Takes a line of a head or a trailer; false stops the transfer.
        func receive(line: UnsafeRawBufferPointer) -> Bool {
            switch head.read(line) {
            case .more: return true
            case .complete: return completeHead()
            case .tooLarge:
                failure = HTTPError(
                    .protocolViolation, "The head or the trailers of the response are larger than \(HeadReader.sizeLimit) bytes.",
                    request: request, progress: .maybeProcessed)
                return false
            }
        }

        private func completeHead() -> Bool {
            noteActivity()
            headers = head.takeFields()
            let isBodiless = request.method == .head || head.status == 204 || head.status == 304
            expectedLength = nil
            if isBodiless {
                expectedLength = 0
            } else if let text = headers[.contentLength], !headers.contains(.transferEncoding) {
                // Curl takes one that is too large for none, and the last of several that differ (RFC 9112 §6.3, rule 5).
                guard let length = HTTPHeaders.contentLength(text) else {
                    failure = HTTPError(
                        .protocolViolation, "The response's Content-Length isn't a number.", request: request,
                        progress: .maybeProcessed)
                    return false
                }
                expectedLength = length
            }
            decodedLength = expectedLength
            if decodes, !isBodiless, headers.contains(.contentEncoding) {
                // What they say is true of the bytes on the wire only.
                headers.remove(.contentEncoding)
                headers.remove(.contentLength)
                decodedLength = nil
            }
            noteTLSVersion()
            markUnsettledIfUploading()
            switch options.delivery {
            case .streamed:
                stream = BodyStream(resends: resends)
                markUnsettled()
                loop.expectDeadline(of: self)
            case .buffered(let limit):
                if let decodedLength {
                    guard decodedLength <= Int64(limit) else { return refuse(limit) }
                    // A lying server gets no more memory than it sends for, past a mebibyte.
                    received.reserveCapacity(Int(min(decodedLength, 1 << 20)))
                }
                if loop.options.idleLimit != nil { loop.expectDeadline(of: self) }
            }
            return true
        }

        /// Takes a piece of the body; returns what curl is to be told.
        func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
            noteActivity()
            if let stream {
                guard stream.append(bytes) else {
                    isReceivingPaused = true
                    return ccurl_pause_writing()
                }
                markUnsettled()
                return bytes.count
            }
            guard case .buffered(let limit) = options.delivery else { return 0 }
            guard received.count + bytes.count <= limit else {
                _ = refuse(limit)
                return 0
            }
            received.append(contentsOf: bytes)
            markUnsettledIfUploading()
            return bytes.count
        }

        private func refuse(_ limit: Int) -> Bool {
            failure = HTTPError.bodyTooLarge(limit: limit)
            return false
        }

        private func markUnsettledIfUploading() {
            if case .none = outgoing { return }
            markUnsettled()
        }

        /// Asked while the connection is the transfer's; at the end it no longer is.
        private func noteTLSVersion() {
            guard isSecure, let handle, let version = TLSVersionQuery.function,
                let session = ccurl_info_openssl(handle.curl), let name = version(session)
            else { return }
            tlsVersion = String(cString: name)
        }

        /// Whether the URL is an https one; its scheme has been checked before.
        var isSecure: Bool { request.urlText.hasSecureScheme }
    }

    extension String {
        /// Whether what is an http or https URL is an https one.
        var hasSecureScheme: Bool { utf8.dropFirst(4).first.map { $0 | 0x20 == UInt8(ascii: "s") } ?? false }
    }

    private enum TLSVersionQuery {
        static let function = ccurl_find_openssl_version()
    }

    /// What curl calls during a transfer; the context is the ``EasyHandle``.
    enum TransferCallbacks {
        static func install(on handle: EasyHandle) {
            let context = handle.context
            handle.set(CURLOPT_HEADERDATA, pointer: context)
            handle.set(CURLOPT_WRITEDATA, pointer: context)
            handle.set(CURLOPT_READDATA, pointer: context)
            handle.set(CURLOPT_PREREQDATA, pointer: context)
            _ = ccurl_set_data_function(handle.curl, CURLOPT_HEADERFUNCTION) { data, size, count, context in
                let line = UnsafeRawBufferPointer(start: data, count: size * count)
                guard let transfer = TransferCallbacks.transfer(context), transfer.receive(line: line) else { return 0 }
                return line.count
            }
            _ = ccurl_set_data_function(handle.curl, CURLOPT_WRITEFUNCTION) { data, size, count, context in
                guard let transfer = TransferCallbacks.transfer(context) else { return 0 }
                return transfer.receive(UnsafeRawBufferPointer(start: data, count: size * count))
            }
            _ = ccurl_set_data_function(handle.curl, CURLOPT_READFUNCTION) { data, size, count, context in
                guard let transfer = TransferCallbacks.transfer(context) else { return ccurl_abort_reading() }
                return transfer.send(into: UnsafeMutableRawBufferPointer(start: data, count: size * count))
            }
            _ = ccurl_set_prerequest_function(handle.curl) { context, _, _, _, _ in
                guard let transfer = TransferCallbacks.transfer(context) else { return CURL_PREREQFUNC_ABORT }
                return transfer.willSend() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }
        }

        private static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
            context.flatMap { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue().transfer }
        }
    }
#endif
