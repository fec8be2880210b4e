public import Foundation

/// One request on the wire and what came back: the heads as they were sent and received, the measurements, and kept parts of the bodies.
///
/// It is immutable, and copies share it. What shows it withholds secrets; see ``Redaction``.
public final class ExchangeRecord: Sendable {
    /// Identifies an exchange.
    package struct ID: Sendable, Hashable {
        package let call: CallRecord.ID
        package let number: Int
    }

    /// What was kept of a body.
    public struct Body: Sendable {
        /// The first bytes; no more than ``CallObserver/keepsBodies`` wants.
        public internal(set) var bytes: [UInt8]
        /// The length of the whole body, decoded, as far as it has passed.
        public internal(set) var size: Int64
        /// Whether it has passed to its end.
        var hasEnded: Bool

        init(bytes: [UInt8], size: Int64, hasEnded: Bool = true) {
            (self.bytes, self.size, self.hasEnded) = (bytes, size, hasEnded)
        }

        /// All of one that is empty.
        static let empty = Body(bytes: [], size: 0)

        /// All of one that is in memory, and nothing of any other.
        init(of body: HTTPBody) {
            let bytes = body.bytes
            self.init(bytes: bytes ?? [], size: Int64(bytes?.count ?? 0), hasEnded: bytes != nil)
        }

        /// The same with no more than so many bytes; nil: there are some, and none are wanted.
        fileprivate func keeping(_ limit: Int) -> Body? {
            guard bytes.count > max(0, limit) else { return self }
            return limit > 0 ? Body(bytes: Array(bytes.prefix(limit)), size: size, hasEnded: hasEnded) : nil
        }

        /// Whether all of it was kept. Of a body that broke off, or wasn't read to its end, nobody has all.
        public var isWhole: Bool { hasEnded && Int64(bytes.count) == size }
    }

    /// The exchange.
    package var id: ID { beginning.id }
    /// The call that it belongs to.
    public var call: CallRecord.ID { beginning.id.call }
    /// Its number in that call; 1 is the first.
    public var number: Int { beginning.id.number }
    /// Which attempt it belongs to; 1 is the first.
    public var attempt: Int { beginning.attempt }
    /// Why it was made: `first`, or the name of the event that asked for another exchange (`retry`, `redirect`, `credential`, `hedge`), or
    /// `repeat` where there was none.
    public var cause: String { beginning.cause }
    /// When it began.
    public var date: Date { beginning.date }
    /// When it began, from the start of the call.
    public var start: Duration { beginning.start }
    /// How long it took: until the response was complete, or its head if it is streamed and the body hasn't ended.
    public var duration: Duration { outcome.duration }
    /// How long it took until the head of the response.
    package var headDuration: Duration { outcome.headDuration ?? outcome.duration }
    /// The method.
    public var method: HTTPMethod { beginning.method }
    /// The URL, unredacted.
    public var url: String { beginning.url }
    /// The ``HTTPRequest/route``.
    public var route: String? { beginning.route }
    /// The header fields that the transport was given.
    public var requestHeaders: HTTPHeaders { beginning.requestHeaders }
    /// What was kept of the request's body; nil: nothing of one that there was.
    public var requestBody: Body? { outcome.requestBody }
    /// The response's status; nil when there was no response.
    public var status: HTTPStatus? { outcome.status }
    /// The version of HTTP that the response came with.
    public var version: HTTPVersion? { outcome.version }
    /// The response's header fields.
    public var responseHeaders: HTTPHeaders? { outcome.responseHeaders }
    /// What was kept of the response's body, decoded; nil: nothing, or there was no response.
    public var responseBody: Body? { outcome.responseBody }
    /// The transport's measurements.
    public var metrics: TransportMetrics? { outcome.metrics }
    /// The kind of failure: an ``HTTPError/Code``, `cancelled`, or the type of another error; nil when a response came.
    public var error: String? { outcome.error }
    /// How far the request had come when it failed; nil where that isn't known.
    package var phase: HTTPError.Phase? { outcome.phase }
    /// The failure in words, without secrets.
    public var failure: String? { failure(by: redaction) }
    /// Whether the response's body is streamed and hasn't ended.
    public var isBodyArriving: Bool { outcome.isBodyArriving }
    /// What is withheld when the record is shown.
    public var redaction: Redaction { beginning.source.redaction }

    private let beginning: Beginning
    let outcome: Outcome

    init(_ beginning: Beginning, _ outcome: consuming Outcome) {
        self.beginning = beginning
        self.outcome = outcome
    }

    /// What is known when the request goes to the transport; all records of an exchange share it.
    final class Beginning: Sendable {
        let id: ID
        let attempt: Int
        let cause: String
        let date: Date
        let start: Duration
        let method: HTTPMethod
        let url: String
        let route: String?
        let requestHeaders: HTTPHeaders
        let source: RecordSource

        init(
            id: ID, attempt: Int, cause: String, date: Date, start: Duration, method: HTTPMethod, url: String, route: String?,
            requestHeaders: HTTPHeaders, source: RecordSource
        ) {
            (self.id, self.attempt, self.cause, self.date, self.start) = (id, attempt, cause, date, start)
            (self.method, self.url, self.route) = (method, url, route)
            (self.requestHeaders, self.source) = (requestHeaders, source)
        }
    }

    /// What came of it.
    struct Outcome: Sendable {
        var duration: Duration
        /// Known where the body was streamed and has ended.
        var headDuration: Duration?
        var requestBody: Body?
        var status: HTTPStatus?
        var version: HTTPVersion?
        var responseHeaders: HTTPHeaders?
        var responseBody: Body?
        var metrics: TransportMetrics?
        var error: String?
        var phase: HTTPError.Phase?
        var failure: String?
        var isBodyArriving = false
    }

    /// The record of an exchange that nobody observed. Bodies that are in memory are kept.
    ///
    /// - Parameter isBodyArriving: Whether the body of the response wasn't there yet, whatever that has in its place.
    package convenience init(
        of request: HTTPRequest, _ result: Result<HTTPResponse, any Error>, at date: Date, start: Duration = .zero,
        duration: Duration, isBodyArriving: Bool = false
    ) {
        let beginning = Beginning(
            id: ID(call: .unique(), number: 1), attempt: request.attempt, cause: "first", date: date, start: start,
            method: request.method, url: request.urlText, route: request.route, requestHeaders: request.headers,
            source: RecordSource(Redaction()))
        var outcome = Outcome(duration: duration)
        outcome.requestBody = Body(of: request.body)
        outcome.isBodyArriving = isBodyArriving
        switch result {
        case .success(let response):
            (outcome.status, outcome.version, outcome.responseHeaders) = (response.status, response.version, response.headers)
            (outcome.responseBody, outcome.metrics) = (isBodyArriving ? nil : Body(of: response.body), response.metrics)
        case .failure(let error): outcome.fail(error)
        }
        self.init(beginning, outcome)
    }

    /// The failure in words, as somebody shows it who has a redaction of their own.
    package func failure(by redaction: Redaction) -> String? { outcome.failure.map(redaction.ownText) }

    /// The memory that kept bodies take.
    var keptBytes: Int { (outcome.requestBody?.bytes.count ?? 0) + (outcome.responseBody?.bytes.count ?? 0) }

    /// Whether more than so many bytes were kept of a body.
    func keepsMore(than limit: Int) -> Bool {
        max(outcome.requestBody?.bytes.count ?? 0, outcome.responseBody?.bytes.count ?? 0) > max(0, limit)
    }

    /// The same with no more than so many bytes of each body. One that is empty stays known as that.
    func keeping(bodies limit: Int) -> ExchangeRecord {
        guard keepsMore(than: limit) else { return self }
        var outcome = outcome
        outcome.requestBody = outcome.requestBody?.keeping(limit)
        outcome.responseBody = outcome.responseBody?.keeping(limit)
        return ExchangeRecord(beginning, outcome)
    }
}

extension ExchangeRecord: CustomStringConvertible, CustomReflectable {
    /// The method, the URL and the outcome in a line; secrets withheld.
    public var description: String {
        let outcome = failure.map { "✗ \($0)" } ?? "→ \(status.map(String.init(describing:)) ?? "")"
        return "\(redaction.line(method, url)) \(outcome), \(duration)"
    }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["exchange": description]) }
}

extension ExchangeRecord.Body: CustomStringConvertible, CustomReflectable {
    /// The sizes; never the content.
    public var description: String {
        isWhole ? "\(size) bytes" : "\(bytes.count) of \(hasEnded ? "" : "at least ")\(size) bytes"
    }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}
