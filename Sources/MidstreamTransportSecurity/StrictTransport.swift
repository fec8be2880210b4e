public import Interception
public import MidstreamCore

/// Sends requests by https in place of http to hosts that have asked for it, and remembers which have (HSTS, RFC 6797).
///
/// ```swift
/// let store = StrictTransportStore([StrictTransportHost("example.com", includesSubdomains: true)])
/// let client = HTTPClient(baseURL: "http://api.example.com") { StrictTransport(store: store) }
/// ```
///
/// It stands outermost at ``InterceptorStage/exchange``: each attempt and each hop of a redirect is looked at by itself, before cookies are
/// added, which are those of the https URL then, `Secure` ones too, before caches choose a key, and before anything is signed. The trace
/// notes it, and ``HTTPClient/explain(_:)`` shows the https URL. What stands further out sees the URL as it was asked for: the policy of
/// redirects as well, by which a redirect to https leads to another origin than http.
///
/// A `Strict-Transport-Security` field is obeyed on responses that came by https from hosts that have a name other than `localhost`, whatever their status; by http
/// it is ignored, and so is what breaks the grammar (RFC 6797 §8.1). A connection whose certificate isn't accepted has no response; with a
/// transport that doesn't check certificates anybody in between can have a host remembered.
public struct StrictTransport: HTTPInterceptor {
    /// What is known of hosts.
    public let store: StrictTransportStore

    /// Makes an interceptor.
    ///
    /// - Parameter store: Where hosts are remembered; by default an empty store of its own.
    public init(store: StrictTransportStore = StrictTransportStore()) { self.store = store }

    /// `.exchange`.
    public var stage: InterceptorStage { .exchange }

    /// `.scheme`.
    public var rank: InterceptorRank { .scheme }

    /// It waits for nothing of its own.
    public var traits: InterceptorTraits { .endsInTime }

    /// Sends the request, by https where its host wants that, and remembers what the response says.
    ///
    /// - Throws: What `next` throws, and nothing else.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        if secure(&request) { request.note("by https, as its host wants") }
        if next.mayGiveUpAnswers {
            let outer = request.onGivenUp
            request.onGivenUp = { response, request in
                outer?(response, &request)
                if let response { takePolicy(of: response) }
            }
        }
        let response = try await next(request)
        takePolicy(of: response)
        return response
    }

    private func takePolicy(of response: HTTPResponse) {
        // A stored response's field was taken when it came from the server.
        guard let field = response.receivedHeaders.values(Self.fieldName).first else { return }
        // An interceptor further in may have sent it elsewhere.
        let sent = URLText(response.request.urlText)
        guard sent.webScheme == "https", let host = sent.host else { return }
        // Of several the first counts (RFC 6797 §8.1), also where URLSession or a proxy has joined them.
        let policy = StrictTransportPolicy(field) ?? StrictTransportPolicy(String(field.prefix { $0 != "," }))
        if policy.map({ store.take($0, from: String(host)) }) != true {
            response.note("the \(Self.fieldName) field of the response says nothing")
        }
    }

    /// Shows the https URL.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        .known(secure(&request) ? "by https, as its host wants" : nil)
    }

    /// `.nobody`: it treats all alike.
    public func identity(of request: HTTPRequest) -> RequestIdentity { .nobody }

    private static let fieldName: HTTPHeaders.Name = "Strict-Transport-Security"

    /// Makes the URL an https one if its host wants that; true when it does (RFC 6797 §8.3).
    private func secure(_ request: inout HTTPRequest) -> Bool {
        var parts = URLText(request.urlText)
        guard parts.webScheme == "http", let host = parts.host, store.includes(String(host)) else { return false }
        parts.scheme = "https"
        // The port of http becomes that of https; any other stays.
        if let port = parts.portText, Int(port) == 80, let authority = parts.authority {
            parts.authority = "\(authority.dropLast(port.count))443"
        }
        request.urlText = parts.text
        return true
    }
}

extension StrictTransport: CustomStringConvertible, CustomReflectable {
    /// How many hosts there are.
    public var description: String { "strict transport: \(store)" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["store": "\(store)"]) }
}
