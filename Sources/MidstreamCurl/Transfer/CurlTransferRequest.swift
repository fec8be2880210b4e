#if os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamCore
    internal import MidstreamLoop

    /// What a request means in curl's options.
    extension CurlTransfer {
        /// Sets a handle's options, or those of them that differ from its last request's.
        ///
        /// - Throws: ``HTTPError``; nothing has been sent.
        func prepare(_ handle: EasyHandle) throws {
            if let problem = curlLoop.options.problem ?? curlLoop.options.environmentProblem { throw problem }
            if !options.isChecked { try request.checkSendable() }
            try curlLoop.options.http3.check(isSecure: isSecure)
            let framing = RequestFraming(request)
            decodes = curlLoop.options.acceptEncoding != nil && mayDecode(framing)
            let shape = Shape(isSecure: isSecure, isStreamed: options.delivery == .streamed)
            handle.prepare(for: shape, kind) { curlLoop.setUp($0, for: shape) }
            // Curl would make credentials of what stands before an `@`.
            handle.set(url: hasUserInfo ? URLText.withoutUserInfo(request.urlText) : request.urlText)
            // What a proxy forwards has the whole URL for its target.
            if EscapedPaths.areRewritten, isSecure || !curlLoop.options.limits.forwardsPlainRequests {
                handle.set(CURLOPT_REQUEST_TARGET, EscapedPaths.target(of: request.urlText))
            }
            try prepareAddress(handle)
            try prepareBody(handle, framing)
            prepareFields(handle, framing)
        }

        /// False only if there is none for certain.
        private var hasUserInfo: Bool {
            var text = request.urlText
            return text.withUTF8 { text in text.baseAddress.map { memchr($0, 64, text.count) != nil } ?? false }
        }

        private var kind: RequestKind {
            guard let bytes = request.body.bytes else { return .other }
            if bytes.isEmpty, request.method == .get { return .get }
            return !bytes.isEmpty && request.method == .post ? .post : .other
        }

        private func prepareBody(_ handle: EasyHandle, _ framing: RequestFraming) throws {
            if let bytes = request.body.bytes { return prepare(handle, framing, bytes: bytes) }
            let length = try prepareChunks()
            handle.set(CURLOPT_UPLOAD, 1)
            handle.set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1)
            if length == nil, request.trailers != nil { HandleCallbacks.installTrailers(on: handle) }
            if request.method != .put { handle.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        }

        private func prepare(_ handle: EasyHandle, _ framing: RequestFraming, bytes: [UInt8]) {
            let method = request.method
            if method == .head { return handle.set(CURLOPT_NOBODY, 1) }
            guard framing.hasBody else {
                if method != .get { handle.set(CURLOPT_CUSTOMREQUEST, method.rawValue) }
                return
            }
            handle.set(CURLOPT_POST, 1)
            handle.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(bytes.count))
            if bytes.isEmpty {
                handle.set(CURLOPT_COPYPOSTFIELDS, "")
            } else {
                // An array's storage stays where it is as long as the array is held and not changed: `outgoing` holds it until
                // curl has let go of it.
                outgoing = .bytes(bytes)
                handle.set(CURLOPT_POSTFIELDS, pointer: bytes.withUnsafeBytes { $0.baseAddress })
            }
            if method != .post { handle.set(CURLOPT_CUSTOMREQUEST, method.rawValue) }
        }

        func trailerLines() -> [[CChar]] {
            // Curl leaves out what has no space behind the colon.
            RequestFields.trailers(of: request).map { line in line.map { CChar(bitPattern: $0) } + [0] }
        }

        private func prepareFields(_ handle: EasyHandle, _ framing: RequestFraming) {
            let mediaType = framing.hasBody && !framing.has(.contentType) ? request.body.contentType : nil
            handle.fields.reset(for: request.headers.bytes, extras: 5, extraBytes: 128 + (mediaType?.utf8.count ?? 0))
            if !framing.has(.accept) { handle.fields.append("Accept:") }
            if decodes, !framing.has(.acceptEncoding), let offer = curlLoop.options.acceptEncoding {
                handle.fields.append("Accept-Encoding: ", value: offer)
            }
            if framing.hasBody {
                if let mediaType {
                    handle.fields.append("Content-Type: ", value: mediaType)
                } else if !framing.has(.contentType) {
                    handle.fields.append("Content-Type:")
                }
                if !framing.has(.expect) { handle.fields.append("Expect:") }
            }
            RequestFields.forEach(in: request.headers) { line, colon, kind in
                if !kind.framesMessage { handle.fields.append(line, colon: colon) }
            }
            handle.set(CURLOPT_HTTPHEADER, pointer: handle.fields.first)
        }
    }
#endif
