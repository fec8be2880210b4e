public import MidstreamCore

/// A socket as a description: where it leads, and the client that opens it.
///
/// ```swift
/// let socket = try await client.webSocket("feed", protocols: ["v2.json"]) { $0.pingInterval = .seconds(20) }.connect()
/// ```
public struct WebSocketTask: Sendable {
    /// What is sent. Its header fields, limits, interceptors and context count as for any request; `Upgrade`, `Connection` and
    /// `Sec-WebSocket-*` are the socket's own, but for `Sec-WebSocket-Protocol`, which counts where ``protocols`` is empty.
    public var request: HTTPRequest
    /// The protocols that are offered, the best first (RFC 6455 §1.9).
    public var protocols: [String]
    /// Settings.
    public var options: WebSocketOptions
    /// Who opens it.
    public let client: HTTPClient

    /// Makes a description.
    public init(
        _ request: HTTPRequest, protocols: [String] = [], options: WebSocketOptions = WebSocketOptions(), client: HTTPClient
    ) {
        self.request = request
        self.protocols = protocols
        self.options = options
        self.client = client
    }

    /// Opens a socket, by a call of its own through the client's whole pipeline: it is authenticated, redirected, retried and traced as any
    /// other. Caches, coalescing and hedging step aside. Timeout and deadline count until the server has agreed.
    ///
    /// - Throws: What ``HTTPClient/stream(_:)`` throws: ``HTTPError/Code/unacceptableStatus``, with the response and its body, for every
    ///   status but 101, a 200 included. ``HTTPError/Code/protocolViolation`` for an answer that RFC 6455 §4.1 doesn't allow,
    ///   ``HTTPError/Code/invalidRequest`` for a request that can't be one for a socket, ``HTTPError/Code/unsupported`` when the client's
    ///   transport has no sockets: `WireTransport` has, and on Apple's platforms `URLSessionTransport`.
    public func connect() async throws -> WebSocket {
        let stopwatch = client.stopwatch.restarted()
        let request = try UpgradeRequest.make(of: request, protocols: protocols, options)
        let response = try await client.stream(request)
        guard response.status.code == 101 else { throw try await refusal(response, to: request, since: stopwatch) }
        do {
            return try WebSocket(response, options, client: client)
        } catch {
            response.body.close()
            throw error
        }
    }

    /// The error for a status other than 101 that the validators accepted; its body is still unread.
    private func refusal(
        _ response: HTTPResponse, to request: HTTPRequest, since beginning: Stopwatch
    ) async throws -> HTTPError {
        let configuration = client.configuration
        let limits = [request.timeout ?? configuration.timeout, request.deadline ?? configuration.deadline]
        let shortest = limits.compactMap { $0 }.min() ?? .unlimited
        // Nobody waits for the end of an error that has none.
        let left = shortest < .unlimited ? shortest - beginning.elapsed : .seconds(10)
        let limit = TimeLimit(left, on: configuration.clock)
        return try await HTTPError.unacceptableStatus(response).withBody(of: response) {
            Task.isCancelled ? CancellationError() : nil
        } read: { body in
            try await limit.run { _ in
                .timedOut(phase: .answered)
            } _: {
                try await body.buffered(upTo: HTTPError.keptBody)
            }
        }
    }

    /// What opening it would do, without sending anything: see ``HTTPClient/explain(_:)``.
    ///
    /// - Throws: What that throws; ``HTTPError/Code/invalidRequest`` for a request that can't be one for a socket.
    public func explain() async throws -> Explanation {
        try await client.explain(UpgradeRequest.make(of: request, protocols: protocols, options))
    }
}

extension HTTPClient {
    /// Describes a socket; ``WebSocketTask/connect()`` opens it.
    ///
    /// - Parameters:
    ///   - url: Absolute, with `ws` or `wss` for `http` and `https` if you like, or relative to ``baseURL``.
    ///   - protocols: What is offered to be spoken, the best first; nothing by default.
    ///   - configure: Changes the settings.
    public func webSocket(
        _ url: RequestURL, protocols: [String] = [], configure: (inout WebSocketOptions) -> Void = { _ in }
    ) -> WebSocketTask { webSocket(HTTPRequest(url), protocols: protocols, configure: configure) }

    /// Describes a socket of a URL that isn't written out here.
    @_disfavoredOverload
    public func webSocket(
        _ url: some RequestURLConvertible, protocols: [String] = [], configure: (inout WebSocketOptions) -> Void = { _ in }
    ) -> WebSocketTask { webSocket(HTTPRequest(url), protocols: protocols, configure: configure) }

    /// Describes a socket that is asked for by a request of your own, a GET.
    public func webSocket(
        _ request: HTTPRequest, protocols: [String] = [], configure: (inout WebSocketOptions) -> Void = { _ in }
    ) -> WebSocketTask {
        var options = WebSocketOptions()
        configure(&options)
        return WebSocketTask(request, protocols: protocols, options: options, client: self)
    }
}
