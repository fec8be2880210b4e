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

    /// Has so many connections stand without a request: with the name looked up, TCP and, for https, TLS, and nothing of HTTP sent but what a
    /// connection of HTTP/2 begins with. Those that stand already, or are being made, count; over HTTP/2 one suffices. No more are made
    /// than the limits of the transport allow, and they are kept no longer than others.
    ///
    /// - Parameters:
    ///   - url: An absolute http or https URL, of which the origin counts.
    ///   - connections: How many; none for zero or less.
    /// - Throws: ``HTTPError/Code/unsupported`` by default; otherwise ``HTTPError`` when one can't be made, which the others may have been;
    ///   `CancellationError` when the task is cancelled, while those that have been begun are still made.
    func prepare(_ url: String, connections: Int) async throws

    /// How many connections and requests the transport has; all zero by default, for transports that don't count theirs.
    ///
    /// They are counted when this is called, so requests pay nothing for it, and the answer takes about a microsecond of the transport's
    /// thread for each connection and each request. Nothing is started or opened; all is zero before the first request, and once the
    /// transport is closed. Several threads are asked one after the other, so their numbers aren't of the same moment. May be called from
    /// any task; cancelling it has no effect.
    var statistics: TransportStatistics { get async }

    /// A thread of the transport's, for tasks that mostly send requests; nil by default. See ``HTTPClient/executor``.
    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    var executor: (any TaskExecutor)? { get }

    /// Whose requests are that it sends, by what it tells servers beside the request, such as a client certificate; `.nobody` by default.
    /// Asked anew for each request of which somebody has to know it, since it may change, as by a login.
    var identity: RequestIdentity { get }
}

extension HTTPTransport {
    /// Nil.
    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    public var executor: (any TaskExecutor)? { nil }

    /// `.nobody`.
    public var identity: RequestIdentity { .nobody }

    /// Throws ``HTTPError/Code/unsupported``.
    public func prepare(_ url: String, connections: Int) async throws {
        throw HTTPError.unsupported("\(Self.self) can't make connections ahead of requests.")
    }

    /// All zero.
    public var statistics: TransportStatistics {
        get async { TransportStatistics() }
    }
}
