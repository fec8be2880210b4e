public import Foundation

/// A response: the head, the body, and what is known about how it came about.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body: in memory after ``HTTPClient/send(_:)->HTTPResponse``, still arriving after ``HTTPClient/stream(_:)``.
    public var body: HTTPBody
    /// What interceptors rarely touch. Responses are handed on many times, and each time their bytes are moved; so it has one element,
    /// whose storage copies share until one of them is changed.
    private var rest: ContiguousArray<Rest>

    private struct Rest: Sendable {
        var request: HTTPRequest
        var version: HTTPVersion
        var trailers: HTTPHeaders?
        var metrics: TransportMetrics?
        var record: (any Sendable)?
        var clientsDecoder: (any BodyDecoder)?
        var context = RequestContext()
    }

    /// Makes a response, as transports, stubs and tests do.
    ///
    /// - Parameters:
    ///   - trailers: Fields that came after the body, when that has been read.
    ///   - metrics: The transport's measurements, when it made any.
    public init(
        status: HTTPStatus, headers: HTTPHeaders = [:], body: HTTPBody = .empty, request: HTTPRequest,
        version: HTTPVersion = .http1_1, trailers: HTTPHeaders? = nil, metrics: TransportMetrics? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        rest = [Rest(request: request, version: version, trailers: trailers, metrics: metrics)]
    }

    /// Whether nothing of the body is still to come. Costs no copy of it.
    package var isWhole: Bool { body.replayability == .replayable }

    /// The request as it went on the wire.
    public package(set) var request: HTTPRequest {
        get { rest[0].request }
        set { rest[0].request = newValue }
    }

    /// The version of HTTP that it came with.
    public var version: HTTPVersion {
        get { rest[0].version }
        set { rest[0].version = newValue }
    }

    /// The fields after the body (RFC 9110 §6.5); for a streamed response known once its body has been read to the end.
    public var trailers: HTTPHeaders? {
        get { rest[0].trailers ?? body.incoming?.trailers }
        set { rest[0].trailers = newValue }
    }

    /// The transport's measurements; for a streamed response known once its body has been read to the end.
    public var metrics: TransportMetrics? {
        get { rest[0].metrics ?? body.incoming?.metrics }
        set { rest[0].metrics = newValue }
    }

    /// What whoever has handled the response has written down about it; nothing that the message itself knows anything of.
    package var record: (any Sendable)? {
        get { rest[0].record }
        set { rest[0].record = newValue }
    }

    /// What decodes the body where nothing else is given: the request's decoder, or that of the client that it came through.
    package var decoder: (any BodyDecoder)? {
        get { request.decoder ?? rest[0].clientsDecoder }
        set { rest[0].clientsDecoder = newValue }
    }

    /// Typed values that interceptors leave with the response.
    package var context: RequestContext {
        get { rest[0].context }
        set { rest[0].context = newValue }
    }

    /// The URL that answered, redirects followed.
    public var url: URL { request.url }

    /// The body as far as it is in memory. **Empty while it is still arriving**, as after ``HTTPClient/stream(_:)``: read ``body`` then. That
    /// of a rejected response is in memory in either case, up to ``HTTPError/keptBody``.
    public var data: Data { Data(body.bytes ?? []) }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The status and where it came from.
    public var description: String { "\(status) from \(request)" }

    /// The status, the headers and what kind of body there is; secrets withheld.
    public var debugDescription: String {
        [description, headers.isEmpty ? nil : headers.description, "[\(body)]"].compactMap { $0 }.joined(separator: "\n")
    }

    /// Shows what ``debugDescription`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["response": debugDescription]) }
}
