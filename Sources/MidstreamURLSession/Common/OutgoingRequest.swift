internal import Foundation
internal import MidstreamCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A request in URLSession's terms.
struct OutgoingRequest: Sendable {
    private var urlRequest: URLRequest
    private var content: Content
    /// Keeps the file that is sent.
    private var spool: (any Sendable)?

    private enum Content {
        case none
        case bytes([UInt8])
        case file(URL)
        /// With the length that is announced, since that of some bodies changes with their files.
        case stream(HTTPBody, length: Int64?)
    }

    /// - Throws: ``HTTPError/Code/invalidRequest``, ``HTTPError/Code/unsupported`` and ``HTTPError/Code/bodyUnreadable`` for what can't be
    ///   sent.
    init(_ request: HTTPRequest, assumesHTTP3Capable: Bool = false) throws {
        func refusal(_ code: HTTPError.Code, _ message: String) -> HTTPError {
            HTTPError(code, message, request: request, phase: .notSent)
        }
        guard let url = Self.url(request.urlText) else {
            throw refusal(.invalidRequest, "The URL isn't an absolute http or https URL.")
        }
        try request.checkFile()
        content = Self.content(of: request)
        // URLSession refuses it too, but only once the task runs and with an error about the size.
        if request.method == .get {
            guard case .none = content else { throw refusal(.unsupported, "URLSession can't send a body with GET.") }
        }
        var outgoing = URLRequest(url: url)
        outgoing.httpMethod = request.method.rawValue
        outgoing.timeoutInterval = Self.never
        outgoing.httpShouldHandleCookies = false
        #if !canImport(FoundationNetworking)
            outgoing.assumesHTTP3Capable = assumesHTTP3Capable
        #endif
        outgoing.cachePolicy = .reloadIgnoringLocalCacheData
        Self.setFields(of: request, on: &outgoing)
        if case .bytes(let bytes) = content { outgoing.httpBody = Data(bytes) }
        if case .stream(_, let length?) = content {
            outgoing.setValue("\(length)", forHTTPHeaderField: "Content-Length")
        }
        urlRequest = outgoing
    }

    #if canImport(FoundationNetworking)
        /// The same without a stream (see ``SpooledBody``).
        func spooled() async throws -> OutgoingRequest {
            guard case .stream(let body, let length) = content else { return self }
            var spooled = self
            spooled.urlRequest.setValue(nil, forHTTPHeaderField: "Content-Length")
            switch try await SpooledBody.reading(body, length: length) {
            case .memory(let bytes):
                spooled.content = .bytes(bytes)
                spooled.urlRequest.httpBody = Data(bytes)
            case .file(let file, let url):
                spooled.content = .file(url)
                spooled.spool = file
            }
            return spooled
        }
    #endif

    /// A year: the client ends what takes too long. Infinity would trap where it is turned into milliseconds.
    static let never: TimeInterval = 365 * 24 * 3600

    /// The body, when it is handed to the session as a stream, and the length that is announced.
    var streamedBody: (HTTPBody, length: Int64?)? {
        if case .stream(let body, let length) = content { (body, length) } else { nil }
    }

    func makeTask(in session: URLSession) -> URLSessionTask {
        switch content {
        case .none, .bytes: session.dataTask(with: urlRequest)
        case .file(let url): session.uploadTask(with: urlRequest, fromFile: url)
        case .stream: session.uploadTask(withStreamedRequest: urlRequest)
        }
    }

    #if !canImport(FoundationNetworking)
        /// A socket's URL is a `ws` or `wss` one there.
        func makeSocketTask(in session: URLSession) -> URLSessionWebSocketTask {
            var request = urlRequest
            if let url = request.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) {
                parts.scheme = parts.scheme?.lowercased() == "https" ? "wss" : "ws"
                request.url = parts.url ?? url
            }
            return session.webSocketTask(with: request)
        }
    #endif

    private static func content(of request: HTTPRequest) -> Content {
        let body = request.body
        if let bytes = body.bytes { return bytes.isEmpty ? .none : .bytes(bytes) }
        let length = body.length
        // What has no length is no regular file.
        if let path = body.filePath, length != nil { return .file(URL(fileURLWithPath: path)) }
        return .stream(body, length: length ?? request.headers[.contentLength].flatMap(HTTPHeaders.contentLength))
    }

    /// The URL without its user info, which libcurl would turn into credentials.
    private static func url(_ text: String) -> URL? {
        guard let url = URL(string: URLText.withoutUserInfo(text)), let host = url.host, !host.isEmpty else { return nil }
        return url
    }

    /// Sets the fields but for those that say how long the body is, which the session writes.
    private static func setFields(of request: HTTPRequest, on outgoing: inout URLRequest) {
        let headers = request.headers
        var seen: Set<HTTPHeaders.Name> = [.contentLength, .transferEncoding]
        for (name, _) in headers where seen.insert(name).inserted {
            let value = name == .cookie ? headers.values(name).joined(separator: "; ") : headers[name]
            outgoing.setValue(value, forHTTPHeaderField: name.rawValue)
        }
        #if canImport(FoundationNetworking)
            // A blank value removes the field; otherwise any POST would claim to be a form.
            if !seen.contains(.contentType) { outgoing.setValue(" ", forHTTPHeaderField: "Content-Type") }
        #endif
    }
}
