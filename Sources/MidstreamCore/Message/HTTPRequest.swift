public import Foundation

/// A request: a value that describes what to send and how.
///
/// Handing one on costs two reference counts, whatever it holds; an interceptor changes a copy and passes that on.
public struct HTTPRequest: Identifiable, Sendable {
    /// One element, whose storage copies share until one is changed: a pipeline hands requests on many times.
    private var fields: ContiguousArray<Fields>
    /// Outside of the storage, since it changes on the way through a pipeline.
    private var attemptNumber: Int32 = 1

    private struct Fields: Sendable {
        var id: UUID
        var method: HTTPMethod
        var urlText: String
        var headers: HTTPHeaders
        var body: HTTPBody
        var context = RequestContext()
    }

    /// Identifies the call. Given when the request is made, kept by copies, the same on every attempt and redirect.
    public package(set) var id: UUID {
        get { fields[0].id }
        set { fields[0].id = newValue }
    }

    /// The method.
    public var method: HTTPMethod {
        get { fields[0].method }
        set { fields[0].method = newValue }
    }

    /// The URL as text: as it was given, relative to the client's base URL or absolute. Inside the pipeline it is absolute.
    public var urlText: String {
        get { fields[0].urlText }
        set { fields[0].urlText = newValue }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { fields[0].headers }
        // In place, so that setting one field doesn't copy them all.
        _modify { yield &fields[0].headers }
    }

    /// The body. Where the present one's media type stands among the fields, that of the new one takes its place, if it has one.
    public var body: HTTPBody {
        get { fields[0].body }
        set {
            let old = fields[0].body.contentType
            if let type = newValue.contentType, let old, type != old, headers[.contentType] == old {
                headers[.contentType] = type
            }
            fields[0].body = newValue
        }
    }

    /// 1 on the first attempt, 2 on the first retry …; set by the arbiter.
    public package(set) var attempt: Int {
        get { Int(attemptNumber) }
        set { attemptNumber = Int32(clamping: newValue) }
    }

    /// Typed values that travel with the request and never go on the wire: its settings, and what interceptors leave for each other.
    public var context: RequestContext {
        get { fields[0].context }
        _modify { yield &fields[0].context }
    }

    /// Its limits of time and retries.
    package var limits: RequestLimits {
        get { fields[0].context.limits }
        _modify { yield &fields[0].context.limits }
    }

    /// Whether interceptors have changed limits since they were read.
    var hasLateLimits: Bool { fields[0].context.limits != fields[0].context.keptLimits }

    /// Notes that its limits have been read.
    mutating func markLimitsKept() { fields[0].context.keptLimits = fields[0].context.limits }

    /// Whether its context has nothing but limits. Costs no copy.
    package var carriesNothing: Bool { fields[0].context.hasNoValues }

    /// Whether its context has a value of a key. Costs less than reading it.
    package func carries(_ key: any RequestContextKey.Type) -> Bool { fields[0].context.has(key) }

    /// Whether its absolute URL is of the origin with these bytes; false when only parsing could tell. Costs no copy of the URL.
    package func isSent(to origin: UnsafeBufferPointer<UInt8>) -> Bool { fields[0].urlText.isCertainly(ofOrigin: origin) }

    /// Whether both share unchanged storage; false for equal contents in different storage.
    func isUnchanged(since other: HTTPRequest) -> Bool {
        guard attemptNumber == other.attemptNumber else { return false }
        return fields.withUnsafeBufferPointer { mine in
            other.fields.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress }
        }
    }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - url: Absolute, or relative to the client's base URL. What is interpolated is percent-encoded: see ``RequestURL``. Resolved and
    ///     checked when it is sent.
    ///   - headers: Header fields; they win over the client's.
    ///   - body: The body; none by default.
    public init(_ method: HTTPMethod, _ url: RequestURL, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        fields = [Fields(id: .unique(), method: method, urlText: url.text, headers: headers, body: body)]
        if let route = url.route { context[RouteKey.self] = route }
        if let problem = url.problem { context[UnsendableKey.self] = problem }
    }

    /// Makes a request of a URL that isn't written out here: a `String`, which is taken as it is, or a `URL`.
    @_disfavoredOverload
    public init(
        _ method: HTTPMethod, _ url: some RequestURLConvertible, headers: HTTPHeaders = [:], body: HTTPBody = .empty
    ) {
        self.init(method, url.requestURL, headers: headers, body: body)
    }

    /// The same request as another call, with an identity of its own.
    package func asNewCall() -> HTTPRequest {
        var request = self
        request.id = .unique()
        return request
    }

    /// Makes a `GET` request.
    ///
    /// - Parameter body: With a body a method has to be said, here or afterwards: none is guessed. Sending it without one fails with
    ///   ``HTTPError/Code/invalidRequest``.
    public init(_ url: RequestURL, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        self.init(.get, url, headers: headers, body: body)
        if !body.isNone { context[UnsaidMethodKey.self] = true }
    }

    /// Makes a `GET` request of a URL that isn't written out here: a `String`, which is taken as it is, or a `URL`.
    @_disfavoredOverload
    public init(_ url: some RequestURLConvertible, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        self.init(url.requestURL, headers: headers, body: body)
    }

    /// The URL. A text that is no URL is percent-encoded to make one here; sending it fails with
    /// ``HTTPError/Code/invalidRequest``. Making a `URL` costs more than reading ``urlText``.
    public var url: URL {
        get {
            URL(string: urlText)
                ?? URL(string: urlText.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "")
                ?? URL(fileURLWithPath: "/")
        }
        set { urlText = newValue.absoluteString }
    }

    /// Adds an item to the query, after those that it has. Name and value are percent-encoded. A value that is nil leaves the item out.
    public mutating func addQuery(_ name: String, _ value: String?) {
        guard let value else { return }
        urlText = URLText.adding(query: "\(name.percentEncoded)=\(value.percentEncoded)", to: urlText)
    }

    /// Adds an item with a number, a truth value and the like; percent-encoded; nil leaves it out.
    @_disfavoredOverload
    public mutating func addQuery(_ name: String, _ value: (some LosslessStringConvertible)?) {
        addQuery(name, value.map { String($0) })
    }

    /// Adds a bare name to the query, percent-encoded, without a value.
    public mutating func addQuery(_ name: String) { urlText = URLText.adding(query: name.percentEncoded, to: urlText) }

    /// Adds several items, in order; those without a value are left out.
    public mutating func addQuery(_ items: KeyValuePairs<String, (any LosslessStringConvertible)?>) {
        for (name, value) in items { addQuery(name, value.map { String(describing: $0) }) }
    }
}

/// What is said of the message itself, and not of its call.
private let ownKeys = [
    ObjectIdentifier(RouteKey.self), ObjectIdentifier(AddressKey.self), ObjectIdentifier(TrailersKey.self),
    ObjectIdentifier(UnsafeRetryKey.self), ObjectIdentifier(UnsendableKey.self), ObjectIdentifier(UnsaidMethodKey.self),
]

private enum RouteKey: RequestContextKey { static var defaultValue: String? { nil } }
private enum UnsendableKey: RequestContextKey { static var defaultValue: String? { nil } }
private enum UnsaidMethodKey: RequestContextKey { static let defaultValue = false }

extension HTTPRequest {
    /// What the URLs of many requests have in common, so that there are few of them: a URI template, or a text with `{}` in place of what
    /// was interpolated; a URL in front, such as a base, keeps its origin. Nil for a URL that was written without values or interpolated
    /// alone, and for another URL that a server has named: of a redirect, or of an upload that has begun. It never goes on the wire; logs
    /// and metrics name requests by it: user, password and secret items of the query are withheld from what it is set to.
    public var route: String? {
        get { context[RouteKey.self] }
        set { context[RouteKey.self] = newValue.map(URLText.redacted) }
    }

    /// Throws ``HTTPError/Code/invalidRequest``, or ``HTTPError/Code/bodyUnreadable``, for a mistake found when the request or its body was
    /// made, where nothing could be thrown.
    func checkMeaning() throws {
        if let flaw = body.flaw { throw HTTPError(flaw.code, flaw.message, request: self, phase: .notSent) }
        if carriesNothing { return }
        if let problem = context[UnsendableKey.self] {
            throw HTTPError(.invalidRequest, problem, request: self, phase: .notSent)
        }
        if context[UnsaidMethodKey.self], method == .get, !body.isNone {
            throw HTTPError(
                .invalidRequest, "The request has a body and no method was said for it: write HTTPRequest(.post, …).",
                request: self, phase: .notSent)
        }
    }

    /// The request as part of another one's call, since a closure may have made it from nothing: it has the call's settings then, where it
    /// has none itself.
    package func takingPlace(of other: HTTPRequest) -> HTTPRequest {
        var request = self
        request.attemptNumber = other.attemptNumber
        guard id != other.id else { return request }
        request.id = other.id
        request.context.complete(from: other.context, without: ownKeys)
        return request
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the URL without its credentials, control characters escaped.
    public var description: String { "\(method) \(redactedURL)".escapingControls }

    /// The method, the URL, the headers and what kind of body there is; secrets withheld.
    public var debugDescription: String { lines(by: Redaction()).joined(separator: "\n") }

    /// Its ``description`` for those who see what a redaction leaves.
    package func line(by redaction: Redaction) -> String { redaction.line(method, urlText) }

    /// The lines of ``debugDescription``.
    func lines(by redaction: Redaction) -> [String] {
        [line(by: redaction)]
            + headers.map { "\($0.name.rawValue.escapingControls): \(redaction.value($0.value, of: $0.name, in: headers))" }
            + ["[\(body)]"]
    }

    /// Shows what ``debugDescription`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["request": debugDescription]) }

    /// ``urlText`` as it may be shown: without user and password, and without the values of secret items of query and fragment, which are
    /// the usual ones (`api_key`, `access_token`, `X-Amz-Signature` …) and those that the process's interceptors put keys into.
    public var redactedURL: String { URLText.redacted(urlText) }
}
