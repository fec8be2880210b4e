#if os(Linux)
    internal import MidstreamCore
    internal import MidstreamLoop

    /// Whether a connection may be used again after a response (RFC 9112 §9.3), and for how long.
    struct Persistence {
        let isAllowed: Bool
        /// How long the server keeps it, less a second for a request that is on its way; nil: it doesn't say.
        private(set) var seconds: UInt64?

        /// After a response whose body doesn't end with the connection; `request` is what the request's `Connection` says.
        init(_ fields: ReceivedFields, _ headers: HTTPHeaders, request: String?, version: HTTPVersion) {
            let options = ConnectionOptions(fields, headers)
            // Whoever else is on the way may have seen another end of a body that is framed twice (§6.1).
            let isFramedTwice =
                fields.transferEncoding != .absent && (fields.contentLength != .absent || version != .http1_1)
            guard !isFramedTwice, !options.close, version == .http1_1 || options.keepAlive,
                !ConnectionOptions(request).close
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

        /// What a `Connection` says (RFC 9110 §7.6.1).
        private struct ConnectionOptions {
            private(set) var close = false
            private(set) var keepAlive = false

            init(_ fields: ReceivedFields, _ headers: HTTPHeaders) {
                // What most say.
                let isUsual = fields.has(fields.connection, "keep-alive")
                self.init(isUsual || fields.connection == .absent ? nil : headers[.connection])
                keepAlive = keepAlive || isUsual
            }

            init(_ value: String?) {
                guard let value else { return }
                var scanner = FieldValueScanner(value)
                while let option = scanner.member(of: ",") {
                    if scanner.isToken(option, "close") { close = true }
                    if scanner.isToken(option, "keep-alive") { keepAlive = true }
                }
            }
        }
    }
#endif
