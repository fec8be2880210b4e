public import Foundation
internal import Interception

/// A request: a value that describes what to send and how.
///
/// Handing one on costs two reference counts, whatever it holds; an interceptor changes a copy and passes that on.
public struct HTTPRequest: Identifiable, Sendable {
    /// What the request says. A pipeline hands it on many times, so it has one element, whose storage copies of the request share
    /// until one of them is changed. What changes on the way through a pipeline stands beside it, so as not to have it copied.
    private var fields: ContiguousArray<Fields>
    /// What belongs to the call that the request is part of; nil outside the pipeline.
    package var call: Call?
    /// Whose notes are left on it.
    var noteAuthor = NoteAuthor.nobody
    private var attemptNumber: Int32 = 1
    /// Nanoseconds; the largest number: no limit.
    private var attemptLimit = Int64.max

    private struct Fields: Sendable {
        var id: UUID
        var method: HTTPMethod
        var urlText: String
        var headers: HTTPHeaders
        var body: HTTPBody
        var rare: Rare?
    }

    /// Identifies the call. Given when the request is made, kept by copies, the same on every attempt and redirect.
    public internal(set) var id: UUID {
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

    /// The body.
    public var body: HTTPBody {
        get { fields[0].body }
        set { fields[0].body = newValue }
    }

    /// 1 on the first attempt, 2 on the first retry …; set by the arbiter.
    public package(set) var attempt: Int {
        get { Int(attemptNumber) }
        set { attemptNumber = Int32(clamping: newValue) }
    }

    /// When the present attempt has to be over, counted from the start of the call; nil: no limit.
    package var attemptEnd: Duration? {
        get { attemptLimit == .max ? nil : .nanoseconds(attemptLimit) }
        set { attemptLimit = newValue?.wholeNanoseconds ?? .max }
    }

    /// Whether nothing that it says can have been changed between the two; false says nothing.
    func isUnchanged(since other: HTTPRequest) -> Bool {
        guard attemptNumber == other.attemptNumber else { return false }
        return fields.withUnsafeBufferPointer { mine in
            other.fields.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress }
        }
    }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: Absolute, or relative to the client's base URL. Kept as given; resolved and checked when it is sent.
    ///   - headers: Header fields; they win over the client's.
    ///   - body: The body; none by default.
    public init(_ method: HTTPMethod, _ url: String, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        fields = [Fields(id: .unique(), method: method, urlText: url, headers: headers, body: body)]
    }

    /// The same request as another call, with an identity of its own.
    package func asNewCall() -> HTTPRequest {
        var request = self
        request.id = .unique()
        return request
    }

    /// Makes a `GET` request; see ``init(_:_:headers:body:)``.
    public init(_ url: String, headers: HTTPHeaders = [:]) {
        self.init(.get, url, headers: headers)
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

    /// Adds an item to the query, after those that it has. Name and value are percent-encoded; without a value it is just the
    /// name.
    public mutating func addQuery(_ name: String, _ value: String?) {
        let item = value.map { "\(name.percentEncoded)=\($0.percentEncoded)" } ?? name.percentEncoded
        urlText = URLText.adding(query: item, to: urlText)
    }
}

extension HTTPRequest {
    private struct Settings: Sendable {
        var timeout: Duration?
        var deadline: Duration?
        var maxRetries: Int?
        var redirects: RedirectPolicy?
        var interceptors: [any HTTPInterceptor] = []
        var validators: [any HTTPValidator]?
        var allowsUnsafeRetry = false
        var context = RequestContext()
        var transferObserver: TransferObserver?
    }

    /// The settings that most requests leave alone, on the heap so that the others don't carry them.
    private final class Rare: Sendable {
        let settings: Settings
        init(_ settings: Settings) { self.settings = settings }
    }

    private static let usual = Settings()

    private var rare: Rare? { fields[0].rare }

    private subscript<Value>(setting: WritableKeyPath<Settings, Value>) -> Value {
        get { (rare?.settings ?? Self.usual)[keyPath: setting] }
        set {
            var settings = rare?.settings ?? Self.usual
            settings[keyPath: setting] = newValue
            fields[0].rare = Rare(settings)
        }
    }

    /// How long one attempt may take; nil: the client's. Zero or less: no limit.
    ///
    /// It counts from the attempt's start, redirects included, to the last byte that is buffered; for a streamed response to the
    /// head. It ends the exchange that is on the wire. An interceptor that waits for something of its own isn't interrupted by
    /// it, but by the ``deadline``; its next exchange then finds the time used up.
    public var timeout: Duration? {
        get { rare?.settings.timeout }
        set { self[\.timeout] = newValue }
    }

    /// How long the whole call may take, retries, waits and interceptors included; nil: the client's. It cancels whatever is
    /// going on.
    public var deadline: Duration? {
        get { rare?.settings.deadline }
        set { self[\.deadline] = newValue }
    }

    /// How many times the call may be retried; nil: the client's.
    public var maxRetries: Int? {
        get { rare?.settings.maxRetries }
        set { self[\.maxRetries] = newValue }
    }

    /// What to do about redirects; nil: the client's.
    public var redirects: RedirectPolicy? {
        get { rare?.settings.redirects }
        set { self[\.redirects] = newValue }
    }

    /// Interceptors of this request alone. In each stage they run outside the client's.
    public var interceptors: [any HTTPInterceptor] {
        get { rare?.settings.interceptors ?? [] }
        set { self[\.interceptors] = newValue }
    }

    /// Validators in place of the client's; nil: the client's.
    public var validators: [any HTTPValidator]? {
        get { rare?.settings.validators }
        set { self[\.validators] = newValue }
    }

    /// Whether it may be sent again after a failure although its method isn't idempotent; false by default.
    public var allowsUnsafeRetry: Bool {
        get { rare?.settings.allowsUnsafeRetry ?? false }
        set { self[\.allowsUnsafeRetry] = newValue }
    }

    /// Values that interceptors leave for each other.
    public var context: RequestContext {
        get { rare?.settings.context ?? Self.usual.context }
        set { self[\.context] = newValue }
    }

    /// Who hears how many bytes have gone over the wire; nobody by default.
    package var transferObserver: TransferObserver? {
        get { rare?.settings.transferObserver }
        set { self[\.transferObserver] = newValue }
    }

    /// How much time the present attempt has left, zero or less when it is over; nil: no limit.
    package var timeLeft: Duration? {
        guard let attemptEnd, let call else { return nil }
        return attemptEnd - call.stopwatch.elapsed
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the URL without its credentials.
    public var description: String { "\(method) \(redactedURL)" }

    /// The method, the URL, the headers and what kind of body there is; secrets withheld.
    public var debugDescription: String {
        [description, headers.isEmpty ? nil : headers.description, "[\(body)]"].compactMap { $0 }.joined(separator: "\n")
    }

    /// Shows what ``debugDescription`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["request": debugDescription]) }

    package var redactedURL: String { URLText.redacted(urlText) }
}
