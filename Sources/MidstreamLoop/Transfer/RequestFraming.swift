#if os(Linux)
    import Glibc
    internal import Interception
    package import MidstreamCore

    /// What a request's header fields say about how it is sent.
    package struct RequestFraming {
        package let hasBody: Bool
        /// A bit for each kind of field that there is.
        private let kinds: UInt16

        package init(_ request: HTTPRequest) {
            var kinds: UInt16 = 0
            RequestFields.forEach(in: request.headers) { _, _, kind in kinds |= 1 << kind.rawValue }
            self.kinds = kinds
            let (method, isToldLength) = (request.method, kinds & (1 << RequestFields.Kind.contentLength.rawValue) != 0)
            // Servers that want a length of every DELETE are told one by the field.
            hasBody =
                request.body.bytes?.isEmpty != true || method == .post || method == .put || method == .patch
                || isToldLength && method != .get && method != .head && method != .trace
        }

        package func has(_ kind: RequestFields.Kind) -> Bool { kinds & (1 << kind.rawValue) != 0 }
    }

    /// What the system says of a body that isn't in memory. Asked by its caller's task: no loop waits for a server with files that doesn't answer.
    struct FoundBody {
        /// That it can be read, or why it can't.
        let check: Result<Void, any Error>
        /// Nil: not known.
        let length: Int64?

        init(of request: HTTPRequest) {
            check = Result { try request.checkFile() }
            length = request.body.length
        }
    }

    extension Transfer {
        /// Makes ready to read a body that isn't in memory; gives its length, nil when it isn't known.
        ///
        /// - Parameter sendsFiles: Whether a file may be left to the system to send.
        /// - Throws: ``HTTPError`` with ``HTTPError/Code/bodyUnreadable`` for a file that can't be read.
        package final func prepareChunks(sendsFiles: Bool = false) throws -> Int64? {
            try foundBody?.check.get()
            let length = foundBody?.length ?? request.headers[.contentLength].flatMap(HTTPHeaders.contentLength)
            let executor = bodyExecutor ?? CallersExecutor()
            if sendsFiles, let feeder = FileFeeder(request.body, length: foundBody?.length, executor: executor) {
                outgoing = .file(feeder)
                return feeder.length
            }
            outgoing = .chunks(UploadFeeder(request.body, length: length, executor: executor))
            return length
        }
    }

    package enum RequestFields {
        package enum Kind: UInt16 {
            case accept, acceptEncoding, connection, contentLength, contentType, expect, range, transferEncoding, upgrade, other

            /// Whether it says how long a message is, which is written by who sends it.
            package var framesMessage: Bool { self == .contentLength || self == .transferEncoding }
        }

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

        /// The fields after a request's body, `name: value` each, but for those that would frame it (RFC 9110 §6.5.1).
        package static func trailers(of request: HTTPRequest) -> [[UInt8]] {
            var lines: [[UInt8]] = []
            forEach(in: request.trailers?() ?? [:]) { line, colon, kind in
                guard !kind.framesMessage else { return }
                lines.append(Array(line[...colon]) + [UInt8(ascii: " ")] + Array(line[(colon + 1)...]))
            }
            return lines
        }

        private static func kind(of name: UnsafeBufferPointer<UInt8>) -> Kind {
            switch name.count {
            case 5: name.isFieldName("range") ? .range : .other
            case 6: name.isFieldName("accept") ? .accept : name.isFieldName("expect") ? .expect : .other
            case 7: name.isFieldName("upgrade") ? .upgrade : .other
            case 10: name.isFieldName("connection") ? .connection : .other
            case 12: name.isFieldName("content-type") ? .contentType : .other
            case 14: name.isFieldName("content-length") ? .contentLength : .other
            case 15: name.isFieldName("accept-encoding") ? .acceptEncoding : .other
            case 17: name.isFieldName("transfer-encoding") ? .transferEncoding : .other
            default: .other
            }
        }
    }
#endif
