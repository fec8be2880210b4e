public import Foundation
internal import Interception

/// A response: the head, the body, and what is known about how it came about.
///
/// Handing one on costs one reference count, whatever it holds; an interceptor changes a copy and returns that.
public struct HTTPResponse: Sendable {
    /// One element, whose storage copies share until one is changed: each waiting frame of a pipeline keeps room for a response.
    private var fields: ContiguousArray<Fields>

    private struct Fields: Sendable {
        var status: HTTPStatus
        var version: HTTPVersion
        var headers: HTTPHeaders
        var body: HTTPBody
        var request: HTTPRequest
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
        fields = [
            Fields(
                status: status, version: version, headers: headers, body: body, request: request, trailers: trailers,
                metrics: metrics)
        ]
    }

    /// The status.
    public var status: HTTPStatus {
        get { fields[0].status }
        set { fields[0].status = newValue }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { fields[0].headers }
        // In place, so that setting one field doesn't copy them all.
        _modify { yield &fields[0].headers }
    }

    /// The body: in memory after ``HTTPClient/send(_:)->HTTPResponse``, still arriving after ``HTTPClient/stream(_:)``.
    public var body: HTTPBody {
        get { fields[0].body }
        set { fields[0].body = newValue }
    }

    /// Whether its status, fields and body are unchanged copies of these. Compares in place, without copies.
    func isOf(_ status: HTTPStatus, _ headers: HTTPHeaders, _ body: BodyIdentity) -> Bool {
        fields.withUnsafeBufferPointer { fields in
            fields[0].status == status && headers.isIdentical(to: fields[0].headers) && BodyIdentity(fields[0].body) == body
        }
    }

    /// Whether no part of the body is still to come.
    package var isWhole: Bool { body.replayability == .replayable }

    /// The request as it went on the wire.
    public package(set) var request: HTTPRequest {
        get { fields[0].request }
        set { fields[0].request = newValue }
    }

    /// The version of HTTP that it came with.
    public var version: HTTPVersion {
        get { fields[0].version }
        set { fields[0].version = newValue }
    }

    /// The fields after the body (RFC 9110 §6.5); for a streamed response known once its body has been read to the end.
    public var trailers: HTTPHeaders? {
        get { fields[0].trailers ?? body.incoming?.trailers }
        set { fields[0].trailers = newValue }
    }

    /// The transport's measurements; for a streamed response known once its body has been read to the end.
    public var metrics: TransportMetrics? {
        get { fields[0].metrics ?? body.incoming?.metrics }
        set { fields[0].metrics = newValue }
    }

    /// The trace, which has a type that this folder doesn't know.
    package var record: (any Sendable)? {
        get { fields[0].record }
        set { fields[0].record = newValue }
    }

    /// The default decoder of the body: the request's, or that of the client whose call has ended with it, or else is under way.
    package var decoder: (any BodyDecoder)? {
        get {
            request.decoder ?? fields[0].clientsDecoder ?? (ChainPosition.current?.run as? any BodyDecoderSource)?.decoder
        }
        set { fields[0].clientsDecoder = newValue }
    }

    /// Whether a call has ended with it, whose client has then given it its decoder.
    var hasEndedCall: Bool { fields[0].clientsDecoder != nil }

    /// Typed values that interceptors leave with the response.
    package var context: RequestContext {
        get { fields[0].context }
        _modify { yield &fields[0].context }
    }

    /// The URL that answered, redirects followed.
    public var url: URL { request.url }

    /// The body as far as it is in memory. **Empty while it is still arriving**, as after ``HTTPClient/stream(_:)``, which is reported on
    /// standard error: read ``body`` then. That of a rejected response is in memory in either case, up to ``HTTPError/keptBody``.
    public var data: Data {
        guard let bytes = body.bytes else {
            let report = "Midstream: data is empty for \(self): the body is \(body). Read the body itself.\n"
            try? FileHandle.standardError.write(contentsOf: Data(report.utf8))
            return Data()
        }
        return Data(bytes)
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
