#if Curl && os(Linux)
    internal import CCurl
    import Glibc
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
        /// Large enough that a long body costs few system calls.
        private static let streamBuffer = 128 << 10
        /// Small enough that many requests at a time cost little memory.
        private static let bufferedBuffer = 64 << 10

        /// Sets a handle's options, or those of them that differ from its last request's.
        ///
        /// - Throws: ``HTTPError``; nothing has been sent.
        func prepare(_ handle: EasyHandle) throws {
            if let problem = loop.options.problem { throw problem }
            try checkURL()
            guard request.method.rawValue.isToken, request.method.rawValue != "CONNECT" else {
                throw invalid("The method can't be sent.")
            }
            if let name = request.headers.refused.first {
                throw invalid(
                    "The header \(name.rawValue.isToken ? name.rawValue : "with a name that is no token") can't be sent.")
            }
            let framing = try Framing(request)
            decodes = loop.options.decodes && !framing.hasAcceptEncoding
            let shape = shape(framing)
            if shape == nil || handle.shape != shape {
                handle.reset()
                prepareConnection(handle)
                handle.shape = shape
            }
            handle.set(CURLOPT_URL, request.urlText)
            // Zero is no limit. A streamed response is limited by the client, since its reader may take its time.
            let timeLeft = request.delivery == .streamed ? nil : request.timeLeft
            handle.set(CURLOPT_TIMEOUT_MS, timeLeft?.wholeMilliseconds ?? 0)
            try prepareBody(handle, framing)
            prepareFields(handle, framing)
        }

        private func shape(_ framing: Framing) -> Shape? {
            let kind: Shape.Kind
            switch (request.method, request.body.bytes) {
            case (.get, let bytes?) where bytes.isEmpty: kind = .get
            case (.post, let bytes?) where !bytes.isEmpty: kind = .post
            default: return nil
            }
            return Shape(kind: kind, isSecure: isSecure, isStreamed: request.delivery == .streamed, asksForEncodings: decodes)
        }

        private func prepareConnection(_ handle: EasyHandle) {
            let options = loop.options
            options.apply(to: handle, loop: loop)
            options.apply(to: handle, isSecure: isSecure)
            if decodes { options.applyDecoding(to: handle) }
            handle.set(CURLOPT_BUFFERSIZE, request.delivery == .streamed ? Self.streamBuffer : Self.bufferedBuffer)
        }

        /// The rest is left to curl, which refuses what it can't read; but no byte may end a line or a C string.
        private func checkURL() throws {
            let url = request.urlText.utf8
            guard url.allSatisfy({ $0 > 32 && $0 != 127 }) else {
                throw invalid("The URL holds a space or a control character.")
            }
            let scheme = url.prefix(8).lazy.map(\.asciiLowercased)
            guard scheme.starts(with: "http://".utf8) || scheme.elementsEqual("https://".utf8) else {
                throw invalid("The URL is neither http nor https.")
            }
        }

        private func invalid(_ message: String) -> HTTPError {
            HTTPError(.invalidRequest, message, request: request, progress: .notSent)
        }

        private func prepareBody(_ handle: EasyHandle, _ framing: Framing) throws {
            let body = request.body
            let method = request.method
            if let bytes = body.bytes {
                if let length = framing.contentLength, length != Int64(bytes.count) {
                    throw invalid("Content-Length isn't the length of the body.")
                }
                return try prepare(handle, bytes: bytes)
            }
            guard method != .head else { throw invalid("A HEAD request can't have a body.") }
            guard !body.isSpent else { throw HTTPError.bodyNotReplayable() }
            if let path = body.filePath, access(path, R_OK) != 0 {
                throw HTTPError(
                    .bodyUnreadable, "Can't open the file \(path): \(String(cString: strerror(errno))).", request: request,
                    progress: .notSent)
            }
            let known = body.length
            if let known, let said = framing.contentLength, known != said {
                throw invalid("Content-Length isn't the length of the body.")
            }
            let length = known ?? framing.contentLength
            outgoing = .chunks(UploadFeeder(body, length: length))
            handle.set(CURLOPT_UPLOAD, 1)
            handle.set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1)
            if method != .put { handle.set(CURLOPT_CUSTOMREQUEST, method.rawValue) }
        }

        private func prepare(_ handle: EasyHandle, bytes: [UInt8]) throws {
            let method = request.method
            if method == .head {
                guard bytes.isEmpty else { throw invalid("A HEAD request can't have a body.") }
                return handle.set(CURLOPT_NOBODY, 1)
            }
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

        private func prepareFields(_ handle: EasyHandle, _ framing: Framing) {
            let mediaType = framing.hasBody && !framing.hasContentType ? request.body.contentType : nil
            handle.fields.reset(for: request.headers.bytes, extras: 4, extraBytes: 96 + (mediaType?.utf8.count ?? 0))
            if !framing.hasAccept { handle.fields.append("Accept:") }
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
        let hasBody: Bool

        init(_ request: HTTPRequest) throws {
            func refuse(_ message: String) -> HTTPError {
                HTTPError(.invalidRequest, message, request: request, progress: .notSent)
            }
            hasBody =
                request.body.bytes?.isEmpty != true || request.method == .post || request.method == .put
                || request.method == .patch
            if let type = request.body.contentType, type.utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) {
                throw refuse("The body's media type holds a line end.")
            }
            RequestFields.forEach(in: request.headers) { _, _, kind in
                switch kind {
                case .accept: hasAccept = true
                case .acceptEncoding: hasAcceptEncoding = true
                case .contentType: hasContentType = true
                case .expect: hasExpect = true
                case .framing, .other: break
                }
            }
            // How the message is delimited is the transport's business: contradictions are how requests are smuggled.
            if let text = request.headers[.contentLength] {
                guard let length = Int64(text), length >= 0, text.utf8.allSatisfy({ 48...57 ~= $0 }) else {
                    throw refuse("Content-Length is no number.")
                }
                contentLength = length
            }
            if let coding = request.headers[.transferEncoding], !coding.equalsIgnoringASCIICase("chunked") {
                throw refuse("Transfer-Encoding can't be anything but chunked.")
            }
        }
    }

    private enum RequestFields {
        enum Kind { case accept, acceptEncoding, contentType, expect, framing, other }

        /// Calls `body` with each field, `name:value`, and where its colon is.
        static func forEach(in headers: HTTPHeaders, _ body: (UnsafeBufferPointer<UInt8>, Int, Kind) -> Void) {
            headers.bytes.withUnsafeBufferPointer { all in
                var start = 0
                while start < all.count {
                    guard let colon = all[start...].firstIndex(of: UInt8(ascii: ":")),
                        let end = all[colon...].firstIndex(of: UInt8(ascii: "\n"))
                    else { return }
                    let name = UnsafeBufferPointer(rebasing: all[start..<colon])
                    body(UnsafeBufferPointer(rebasing: all[start..<end]), colon - start, kind(of: name))
                    start = end + 1
                }
            }
        }

        private static func kind(of name: UnsafeBufferPointer<UInt8>) -> Kind {
            switch name.count {
            case 6: matches(name, "accept") ? .accept : matches(name, "expect") ? .expect : .other
            case 12: matches(name, "content-type") ? .contentType : .other
            case 14: matches(name, "content-length") ? .framing : .other
            case 15: matches(name, "accept-encoding") ? .acceptEncoding : .other
            case 17: matches(name, "transfer-encoding") ? .framing : .other
            default: .other
            }
        }

        private static func matches(_ name: UnsafeBufferPointer<UInt8>, _ known: StaticString) -> Bool {
            for place in 0..<name.count where name[place].asciiLowercased != known.utf8Start[place] { return false }
            return true
        }
    }
#endif
