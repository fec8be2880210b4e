#if os(Linux)
    internal import MidstreamCore
    internal import MidstreamLoop

    /// Whether a connection may be used again after a response (RFC 9112 §9.3), and for how long.
    struct Persistence {
        let isAllowed: Bool
        /// How long the server keeps it, less a second for a request that is on its way; nil: it doesn't say.
        private(set) var seconds: UInt64?

        /// After a response whose body doesn't end with the connection; `request` has the request's fields if one is a `Connection`.
        init(_ fields: ReceivedFields, _ headers: HTTPHeaders, request: HTTPHeaders?, status: Int, version: HTTPVersion) {
            // What most say, if anything.
            let isUsual = fields.has(fields.connection, "keep-alive")
            let isOdd = !isUsual && fields.connection != .absent
            // Whoever else is on the way may have seen another end of a body that is framed twice (§6.1), or in an odd way. A 204 mustn't
            // have a coding, and behind one that has there may be a chunk yet.
            let isFramedOddly =
                fields.transferEncoding != .absent
                && (fields.contentLength != .absent || version != .http1_1 || status == 204
                    || !fields.has(fields.transferEncoding, "chunked"))
            guard !isFramedOddly, !isOdd || !Self.says("close", headers),
                version == .http1_1 || isUsual || Self.says("keep-alive", headers),
                request.map({ Self.says("close", $0) }) != true
            else {
                isAllowed = false
                return
            }
            if fields.keepAlive != .absent, let limit = headers["Keep-Alive"].flatMap(Self.timeout) {
                isAllowed = limit > 1
                seconds = limit - min(limit, 1)
            } else {
                isAllowed = true
            }
        }

        /// Whether a `Connection` has an option (RFC 9110 §7.6.1).
        private static func says(_ option: String, _ headers: HTTPHeaders) -> Bool {
            headers.members(of: .connection).contains { $0.equalsIgnoringASCIICase(option) }
        }

        /// The seconds of `timeout=5, max=100`, a day at most.
        private static func timeout(_ value: String) -> UInt64? {
            var scanner = FieldValueScanner(value)
            while let parameter = scanner.parameter() {
                if scanner.isToken(parameter.name, "timeout") {
                    return parameter.value.flatMap { UInt64(scanner.text($0)) }.map { min($0, 86_400) }
                }
                scanner.skipSeparators(",")
            }
            return nil
        }
    }
#endif
