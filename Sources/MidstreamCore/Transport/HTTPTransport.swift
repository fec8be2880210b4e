/// What puts requests on a wire and brings responses back: the innermost part of a pipeline.
///
/// The client hands it requests whose URL is absolute and whose parts have been checked. It follows no redirects, keeps no
/// cookies and adds no credentials: those are interceptors' work. One transport may serve several clients.
public protocol HTTPTransport: Sendable {
    /// Sends one request and returns as soon as the head of the response is there, with a body that is still arriving, or later
    /// with a body in memory.
    ///
    /// The response's request is the one given, and its head is that of the final response (interim ones, 1xx, are passed over).
    /// A transport doesn't enforce ``HTTPRequest/timeout``: the client does, by cancelling the task.
    ///
    /// - Throws: ``HTTPError`` with a code and a ``HTTPError/Phase``; `CancellationError` when the task is cancelled,
    ///   which also gives up the exchange.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse

    /// Whose requests are that it sends, by what it tells servers beside the request, such as a client certificate; `.nobody` by default.
    var identity: RequestIdentity { get }
}

extension HTTPTransport {
    /// `.nobody`.
    public var identity: RequestIdentity { .nobody }
}
