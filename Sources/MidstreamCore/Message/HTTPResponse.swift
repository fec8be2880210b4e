public import Foundation

/// A response: the head, the body, and what is known about how it came about.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body: in memory after ``HTTPClient/send(_:)``, still arriving after ``HTTPClient/stream(_:)``.
    public var body: HTTPBody
    /// What interceptors rarely touch, on the heap: responses are handed on many times, and each time their bytes are moved.
    private var rest: Rest
    /// Whose notes are left on it.
    var noteAuthor = NoteAuthor.nobody

    private final class Rest: Sendable {
        let request: HTTPRequest
        let version: HTTPVersion
        let trailers: HTTPHeaders?
        let metrics: TransportMetrics?

        init(_ request: HTTPRequest, _ version: HTTPVersion, _ trailers: HTTPHeaders?, _ metrics: TransportMetrics?) {
            self.request = request
            self.version = version
            self.trailers = trailers
            self.metrics = metrics
        }
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
        rest = Rest(request, version, trailers, metrics)
    }

    /// The request as it went on the wire.
    public package(set) var request: HTTPRequest {
        get { rest.request }
        set { rest = Rest(newValue, rest.version, rest.trailers, rest.metrics) }
    }

    /// The call that it belongs to.
    var call: Call? { rest.request.call }

    /// The version of HTTP that it came with.
    public var version: HTTPVersion {
        get { rest.version }
        set { rest = Rest(rest.request, newValue, rest.trailers, rest.metrics) }
    }

    /// The fields after the body (RFC 9110 §6.5); for a streamed response known once its body has been read to the end.
    public var trailers: HTTPHeaders? {
        get { rest.trailers ?? body.incoming?.trailers }
        set { rest = Rest(rest.request, rest.version, newValue, rest.metrics) }
    }

    /// The transport's measurements; for a streamed response known once its body has been read to the end.
    public var metrics: TransportMetrics? {
        get { rest.metrics ?? body.incoming?.metrics }
        set { rest = Rest(rest.request, rest.version, rest.trailers, newValue) }
    }

    /// The URL that answered, redirects followed.
    public var url: URL { request.url }

    /// What was done to the request and the response, by whom, in what order and how long it took.
    public var trace: Trace { Trace(request.call) }

    /// The body as far as it is in memory; empty when it is a stream.
    public var data: Data { Data(body.bytes ?? []) }

    /// Decodes the buffered body as JSON.
    ///
    /// - Throws: ``HTTPError/Code/decoding``, which says where the body isn't what was expected and has the decoder's error
    ///   behind it; also when the body is a stream, which has to be collected first.
    public func decode<T: Decodable>(_ type: T.Type = T.self, decoder: JSONDecoder = JSONDecoder()) throws -> T {
        guard body.bytes != nil else {
            throw HTTPError(.decoding, "The body is a stream; collect it before decoding.", request: request, response: self)
        }
        return try PayloadDecoding(of: self).decode(type, from: data, by: decoder)
    }
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
