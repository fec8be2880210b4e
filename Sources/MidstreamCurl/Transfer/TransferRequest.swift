#if Curl && os(Linux)
    internal import CCurl
    import Glibc
    internal import Interception
    internal import MidstreamCore

    /// How a transfer's body is sent.
    enum OutgoingBody {
        case none
        /// Bytes that curl reads from where they are.
        case bytes([UInt8])
        case chunks(UploadFeeder)
    }

    /// What a request means in curl's options.
    extension Transfer {
        /// Sets a handle's options, or those of them that differ from its last request's.
        ///
        /// - Throws: ``HTTPError``; nothing has been sent.
        func prepare(_ handle: EasyHandle) throws {
            if let problem = loop.options.problem { throw problem }
            if !options.isChecked { try request.checkSendable() }
            let framing = Framing(request)
            // A part of an encoded body can't be decoded, so none is asked for (RFC 9110 §14.2).
            decodes =
                loop.options.acceptEncoding != nil && !framing.hasRange
                && (!framing.hasAcceptEncoding || request.encodedBodyCheck != nil)
            let shape = Shape(isSecure: isSecure, isStreamed: options.delivery == .streamed)
            handle.prepare(for: shape, kind) { loop.setUp($0, for: shape) }
            // Curl would make credentials of what stands before an `@`.
            handle.set(url: hasUserInfo ? URLText.withoutUserInfo(request.urlText) : request.urlText)
            // What a proxy forwards has the whole URL for its target.
            if EscapedPaths.areRewritten, isSecure || loop.options.configuration.proxy == .direct {
                handle.set(CURLOPT_REQUEST_TARGET, EscapedPaths.target(of: request.urlText))
            }
            // Zero is no limit. A streamed response is limited by the client, since its reader may take its time.
            handle.set(CURLOPT_TIMEOUT_MS, options.delivery == .streamed ? 0 : timeLeft?.wholeMilliseconds ?? 0)
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

        private func prepareBody(_ handle: EasyHandle, _ framing: Framing) throws {
            let body = request.body
            let method = request.method
            if let bytes = body.bytes { return prepare(handle, bytes: bytes) }
            if let path = body.filePath, access(path, R_OK) != 0 {
                throw HTTPError(
                    .bodyUnreadable, "Can't open the file \(path): \(String(cString: strerror(errno))).", request: request,
                    phase: .notSent)
            }
            let length = body.length ?? framing.contentLength
            outgoing = .chunks(UploadFeeder(body, length: length, executor: bodyExecutor ?? CallersExecutor()))
            handle.set(CURLOPT_UPLOAD, 1)
            handle.set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1)
            if length == nil, request.trailers != nil { HandleCallbacks.installTrailers(on: handle) }
            if method != .put { handle.set(CURLOPT_CUSTOMREQUEST, method.rawValue) }
        }

        private func prepare(_ handle: EasyHandle, bytes: [UInt8]) {
            let method = request.method
            if method == .head { return handle.set(CURLOPT_NOBODY, 1) }
            let isAlwaysFramed = method == .post || method == .put || method == .patch
            guard !bytes.isEmpty || isAlwaysFramed else {
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

        func trailerLines() -> [String] { request.trailers?().map { "\($0.name): \($0.value)" } ?? [] }

        private func prepareFields(_ handle: EasyHandle, _ framing: Framing) {
            let mediaType = framing.hasBody && !framing.hasContentType ? request.body.contentType : nil
            handle.fields.reset(for: request.headers.bytes, extras: 5, extraBytes: 128 + (mediaType?.utf8.count ?? 0))
            if !framing.hasAccept { handle.fields.append("Accept:") }
            if decodes, !framing.hasAcceptEncoding, let offer = loop.options.acceptEncoding {
                handle.fields.append("Accept-Encoding: ", value: offer)
            }
            if framing.hasBody {
                if let mediaType {
                    handle.fields.append("Content-Type: ", value: mediaType)
                } else if !framing.hasContentType {
                    handle.fields.append("Content-Type:")
                }
                if !framing.hasExpect { handle.fields.append("Expect:") }
            }
            RequestFields.forEach(in: request.headers) { line, colon, kind in
                if kind != .framing { handle.fields.append(line, colon: colon) }
            }
            handle.set(CURLOPT_HTTPHEADER, pointer: handle.fields.first)
        }
    }

    /// What a request's header fields say about how it is sent.
    private struct Framing {
        var contentLength: Int64?
        var hasAccept = false
        var hasAcceptEncoding = false
        var hasContentType = false
        var hasExpect = false
        var hasRange = false
        let hasBody: Bool

        init(_ request: HTTPRequest) {
            hasBody =
                request.body.bytes?.isEmpty != true || request.method == .post || request.method == .put
                || request.method == .patch
            var isFramed = false
            RequestFields.forEach(in: request.headers) { _, _, kind in
                switch kind {
                case .accept: hasAccept = true
                case .acceptEncoding: hasAcceptEncoding = true
                case .contentType: hasContentType = true
                case .expect: hasExpect = true
                case .range: hasRange = true
                case .framing: isFramed = true
                case .other: break
                }
            }
            if isFramed { contentLength = request.headers[.contentLength].flatMap(HTTPHeaders.contentLength) }
        }
    }

    private enum RequestFields {
        enum Kind { case accept, acceptEncoding, contentType, expect, range, framing, other }

        /// Calls `body` with each field, `name:value`, and where its colon is.
        static func forEach(in headers: HTTPHeaders, _ body: (UnsafeBufferPointer<UInt8>, Int, Kind) -> Void) {
            headers.bytes.withUnsafeBufferPointer { all in
                guard var start = all.baseAddress else { return }
                let end = start + all.count
                while start < end {
                    guard let feed = memchr(start, 10, end - start),
                        let colon = memchr(start, 58, feed - UnsafeMutableRawPointer(mutating: start))
                    else { return }
                    let line = UnsafeBufferPointer(start: start, count: feed - UnsafeMutableRawPointer(mutating: start))
                    let name = UnsafeBufferPointer(start: start, count: colon - UnsafeMutableRawPointer(mutating: start))
                    body(line, name.count, kind(of: name))
                    start += line.count + 1
                }
            }
        }

        private static func kind(of name: UnsafeBufferPointer<UInt8>) -> Kind {
            switch name.count {
            case 5: name.isFieldName("range") ? .range : .other
            case 6: name.isFieldName("accept") ? .accept : name.isFieldName("expect") ? .expect : .other
            case 12: name.isFieldName("content-type") ? .contentType : .other
            case 14: name.isFieldName("content-length") ? .framing : .other
            case 15: name.isFieldName("accept-encoding") ? .acceptEncoding : .other
            case 17: name.isFieldName("transfer-encoding") ? .framing : .other
            default: .other
            }
        }
    }
#endif
