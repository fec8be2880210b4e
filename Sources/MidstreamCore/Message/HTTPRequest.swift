public import Foundation

/// A request: a value that describes what to send and how.
///
/// Handing one on costs two reference counts, whatever it holds; an interceptor changes a copy and passes that on.
public struct HTTPRequest: Identifiable, Sendable {
    /// What the request says. A pipeline hands it on many times, so it has one element, whose storage copies of the request share
    /// until one of them is changed.
    private var fields: ContiguousArray<Fields>
    /// Stands beside them, since it changes on the way through a pipeline.
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

    /// Typed values that travel with the request and never go on the wire: its settings, and what interceptors leave for each other.
    public var context: RequestContext {
        get { fields[0].context }
        _modify { yield &fields[0].context }
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
    /// The request as a part of the call that another one is part of, since a closure may have made it from nothing.
    package func takingPlace(of other: HTTPRequest) -> HTTPRequest {
        var request = self
        request.id = other.id
        request.attemptNumber = other.attemptNumber
        return request
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
