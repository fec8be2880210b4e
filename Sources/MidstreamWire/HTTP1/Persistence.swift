#if os(Linux)
    internal import MidstreamCore

    /// Whether a connection may be used again after a response (RFC 9112 §9.3), and for how long.
    struct Persistence {
        let isAllowed: Bool
        /// How long the server keeps it, less a second for a request that is on its way; nil: it doesn't say.
        private(set) var seconds: UInt64?

        /// - Parameter response: Of a body that doesn't end with the connection.
        init(request: HTTPHeaders, response: HTTPHeaders, version: HTTPVersion) {
            let options = ConnectionOptions(response[.connection])
            // Whoever else is on the way may have seen another end of a body that is framed twice (§6.1).
            let isFramedTwice =
                response.contains(.transferEncoding) && (response.contains(.contentLength) || version != .http1_1)
            guard !isFramedTwice, !options.close, version == .http1_1 || options.keepAlive,
                !ConnectionOptions(request[.connection]).close
            else {
                isAllowed = false
                return
            }
            if let hint = response["Keep-Alive"], let limit = Self.timeout(hint) {
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
