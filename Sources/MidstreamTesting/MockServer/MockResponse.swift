public import MidstreamCore

extension MockServer {
    /// What a ``MockServer`` answers.
    public struct Response: Sendable {
        /// The status.
        public var status: HTTPStatus
        /// The reason phrase of the status line; nil: the registered one.
        public var reason: String?
        /// The version of the status line. With HTTP/1.0 nothing is chunked, and the connection is closed afterwards.
        public var version: HTTPVersion
        /// Header fields, sent as given, duplicates included.
        ///
        /// Added to them are, unless given: `Content-Length` or `Transfer-Encoding: chunked`, whichever the body needs;
        /// `Content-Type` for bodies that have one, such as text and JSON; `Connection` when the connection ends with this response.
        /// A given `Transfer-Encoding: chunked` makes any body chunked. A given `Content-Length` that isn't the body's length
        /// is sent all the same, and the connection is closed after the body; so it is when the body's length isn't known.
        public var headers: HTTPHeaders
        /// The body, such as `"text \(value)"`, `.json(…)`, `.chunked(…)` or an asynchronous sequence by `.once(…)`; one without a known
        /// length is sent chunked, unless `Content-Length` is given. An error that its reading throws breaks off the response, and the connection ends
        /// with one that isn't as long as it says. Not sent for a `HEAD` request nor with a 1xx, 204 or 304 status.
        public var body: HTTPBody
        /// Whether the end of the connection tells that of the body (RFC 9112 §6.3, rule 8), and nothing else.
        public var closeDelimited: Bool
        /// Fields after the body; they make it chunked, so that a length can't be given beside them.
        public var trailers: HTTPHeaders?
        /// Responses before this one, such as 103 with `Link` fields; not sent to an HTTP/1.0 client.
        public var interim: [Interim]
        /// What goes wrong.
        public var fault: Fault?
        /// How long to wait after the interim responses, by the server's clock.
        public var delay: Duration
        /// Whether to answer as soon as the request's head is there, before its body is read, which is then read and thrown
        /// away. The request is recorded without its body. Only for responses that are enqueued: a closure gets the body.
        public var early: Bool
        /// What happens after a 101.
        var socket: SocketScript?

        /// Makes a response; by default an empty 200.
        public init(
            status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: HTTPBody = .empty, fault: Fault? = nil,
            delay: Duration = .zero, trailers: HTTPHeaders? = nil, interim: [Interim] = [], early: Bool = false,
            closeDelimited: Bool = false, reason: String? = nil, version: HTTPVersion = .http1_1
        ) {
            self.status = status
            self.headers = headers
            self.body = body
            self.fault = fault
            self.delay = delay
            self.trailers = trailers
            self.interim = interim
            self.early = early
            self.closeDelimited = closeDelimited
            self.reason = reason
            self.version = version
        }
    }

    /// A response before the final one (RFC 9110 §15.2).
    public struct Interim: Sendable, Hashable {
        /// The status, 1xx.
        public var status: HTTPStatus
        /// The header fields.
        public var headers: HTTPHeaders

        /// Makes an interim response.
        public init(status: HTTPStatus, headers: HTTPHeaders = [:]) {
            self.status = status
            self.headers = headers
        }

        /// 100 (Continue). One is sent without being asked for to a request that expects it.
        public static let `continue` = Interim(status: 100)

        /// 103 (Early Hints, RFC 8297) with `Link` fields.
        public static func earlyHints(links: [String]) -> Interim {
            var headers = HTTPHeaders()
            for link in links { headers.add(.link, link) }
            return Interim(status: 103, headers: headers)
        }
    }
}
