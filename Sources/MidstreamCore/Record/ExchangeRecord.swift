public import Foundation

/// One request on the wire and what came back: the heads as they were sent and received, the measurements, and kept parts of the bodies.
///
/// It is immutable, and copies share it. What shows it withholds secrets; see ``Redaction``.
public final class ExchangeRecord: Sendable, Identifiable {
    /// Identifies an exchange.
    public struct ID: Sendable, Hashable {
        /// The call that it belongs to.
        public let call: CallRecord.ID
        /// Its number in that call; 1 is the first.
        public let number: Int
    }

    /// What was kept of a body.
    public struct Body: Sendable {
        /// The first bytes; no more than ``CallObserver/keepsBodies`` wants.
        public internal(set) var bytes: [UInt8]
        /// The length of the whole body, decoded, as far as it has passed.
        public internal(set) var size: Int64

        /// Whether all of it was kept.
        public var isWhole: Bool { Int64(bytes.count) == size }
    }

    /// The exchange.
    public let id: ID
    /// Which attempt it belongs to; 1 is the first.
    public let attempt: Int
    /// Why it was made: `first`, or the name of the event that asked for another exchange (`retry`, `redirect`, `credential`, `hedge`), or
    /// `repeat` where there was none.
    public let cause: String
    /// When it began.
    public let date: Date
    /// When it began, from the start of the call.
    public let start: Duration
    /// How long it took: until the response was complete, or its head if it is streamed and the body hasn't ended.
    public let duration: Duration
    /// The method.
    public let method: HTTPMethod
    /// The URL, unredacted.
    public let url: String
    /// The ``HTTPRequest/route``.
    public let route: String?
    /// The header fields that the transport was given.
    public let requestHeaders: HTTPHeaders
    /// What was kept of the request's body; nil: nothing.
    public let requestBody: Body?
    /// The response's status; nil when there was no response.
    public let status: HTTPStatus?
    /// The version of HTTP that the response came with.
    public let version: HTTPVersion?
    /// The response's header fields.
    public let responseHeaders: HTTPHeaders?
    /// What was kept of the response's body, decoded; nil: nothing.
    public let responseBody: Body?
    /// The transport's measurements.
    public let metrics: TransportMetrics?
    /// The kind of failure: an ``HTTPError/Code``, `cancelled`, or the type of another error; nil when a response came.
    public let error: String?
    /// The failure in words, without secrets.
    public let failure: String?
    /// Whether the response's body is streamed and hasn't ended.
    public let isBodyArriving: Bool
    /// What is withheld when the record is shown.
    public let redaction: Redaction

    init(_ given: Contents) {
        id = given.id
        attempt = given.attempt
        cause = given.cause
        date = given.date
        start = given.start
        duration = given.duration
        method = given.method
        url = given.url
        route = given.route
        requestHeaders = given.requestHeaders
        requestBody = given.requestBody
        status = given.status
        version = given.version
        responseHeaders = given.responseHeaders
        responseBody = given.responseBody
        metrics = given.metrics
        error = given.error
        failure = given.failure
        isBodyArriving = given.isBodyArriving
        redaction = given.redaction
    }

    /// What a record is made of.
    struct Contents {
        var id: ID
        var attempt: Int
        var cause: String
        var date: Date
        var start: Duration
        var duration = Duration.zero
        var method: HTTPMethod
        var url: String
        var route: String?
        var requestHeaders: HTTPHeaders
        var requestBody: Body?
        var status: HTTPStatus?
        var version: HTTPVersion?
        var responseHeaders: HTTPHeaders?
        var responseBody: Body?
        var metrics: TransportMetrics?
        var error: String?
        var failure: String?
        var isBodyArriving = false
        var redaction: Redaction
    }

    /// The memory that kept bodies take.
    var keptBytes: Int { (requestBody?.bytes.count ?? 0) + (responseBody?.bytes.count ?? 0) }

    /// The same without what was kept of the bodies.
    var withoutBodies: ExchangeRecord {
        guard keptBytes > 0 else { return self }
        var contents = contents
        contents.requestBody = nil
        contents.responseBody = nil
        return ExchangeRecord(contents)
    }

    var contents: Contents {
        Contents(
            id: id, attempt: attempt, cause: cause, date: date, start: start, duration: duration, method: method, url: url,
            route: route,
            requestHeaders: requestHeaders, requestBody: requestBody, status: status, version: version,
            responseHeaders: responseHeaders, responseBody: responseBody, metrics: metrics, error: error, failure: failure,
            isBodyArriving: isBodyArriving, redaction: redaction)
    }
}

extension ExchangeRecord: CustomStringConvertible, CustomReflectable {
    /// The method, the URL and the outcome in a line; secrets withheld.
    public var description: String {
        let outcome = failure.map { "✗ \($0)" } ?? "→ \(status.map(String.init(describing:)) ?? "")"
        return "\(method) \(redaction.url(url)) \(outcome), \(duration)"
    }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["exchange": description]) }
}

extension ExchangeRecord.Body: CustomStringConvertible, CustomReflectable {
    /// The sizes; never the content.
    public var description: String { isWhole ? "\(size) bytes" : "\(bytes.count) of \(size) bytes" }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}
