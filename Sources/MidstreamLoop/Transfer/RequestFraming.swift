#if os(Linux)
    import Glibc
    internal import Interception
    package import MidstreamCore

    /// What a request's header fields say about how it is sent.
    package struct RequestFraming {
        package private(set) var contentLength: Int64?
        package private(set) var hasAccept = false
        package private(set) var hasAcceptEncoding = false
        package private(set) var hasConnection = false
        package private(set) var hasContentType = false
        package private(set) var hasExpect = false
        package private(set) var hasRange = false
        package private(set) var hasUpgrade = false
        package let hasBody: Bool

        package init(_ request: HTTPRequest) {
            hasBody =
                request.body.bytes?.isEmpty != true || request.method == .post || request.method == .put
                || request.method == .patch
            var isFramed = false
            RequestFields.forEach(in: request.headers) { _, _, kind in
                switch kind {
                case .accept: hasAccept = true
                case .acceptEncoding: hasAcceptEncoding = true
                case .connection: hasConnection = true
                case .contentType: hasContentType = true
                case .expect: hasExpect = true
                case .range: hasRange = true
                case .upgrade: hasUpgrade = true
                case .framing: isFramed = true
                case .other: break
                }
            }
            if isFramed { contentLength = request.headers[.contentLength].flatMap(HTTPHeaders.contentLength) }
        }
    }

    extension Transfer {
        /// Makes ready to read a body that isn't in memory; gives its length, nil when it isn't known.
        ///
        /// - Parameter sendsFiles: Whether a file may be left to the system to send.
        /// - Throws: ``HTTPError`` with ``HTTPError/Code/bodyUnreadable`` for a file that can't be read.
        package final func prepareChunks(_ framing: RequestFraming, sendsFiles: Bool = false) throws -> Int64? {
            if let path = request.body.filePath, access(path, R_OK) != 0 {
                throw HTTPError(
                    .bodyUnreadable, "Can't open the file \(path): \(String(cString: strerror(errno))).", request: request,
                    phase: .notSent)
            }
            let length = request.body.length ?? framing.contentLength
            let executor = bodyExecutor ?? CallersExecutor()
            if sendsFiles, let feeder = FileFeeder(request.body, executor: executor) {
                outgoing = .file(feeder)
                // As the feeder has found it: it may have grown since.
                return feeder.length
            }
            outgoing = .chunks(UploadFeeder(request.body, length: length, executor: executor))
            return length
        }
    }

    package enum RequestFields {
        package enum Kind { case accept, acceptEncoding, connection, contentType, expect, range, upgrade, framing, other }

        /// Calls `body` with each field, `name:value`, and where its colon is.
        package static func forEach(in headers: HTTPHeaders, _ body: (UnsafeBufferPointer<UInt8>, Int, Kind) -> Void) {
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
            case 7: name.isFieldName("upgrade") ? .upgrade : .other
            case 10: name.isFieldName("connection") ? .connection : .other
            case 12: name.isFieldName("content-type") ? .contentType : .other
            case 14: name.isFieldName("content-length") ? .framing : .other
            case 15: name.isFieldName("accept-encoding") ? .acceptEncoding : .other
            case 17: name.isFieldName("transfer-encoding") ? .framing : .other
            default: .other
            }
        }
    }
#endif
