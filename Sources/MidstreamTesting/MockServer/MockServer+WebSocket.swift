public import MidstreamCore

extension MockServer {
    /// Answers requests that find the queue empty with sockets; see ``Response/webSocket(headers:subprotocol:compresses:_:)``.
    @_disfavoredOverload
    public func respond(webSocket serve: @escaping @Sendable (MockWebSocket) async throws -> Void) {
        respond { _ in .webSocket(serve) }
    }
}

extension MockServer.Response {
    /// A 101 that agrees to an upgrade, and what happens on the socket afterwards.
    ///
    /// - Parameters:
    ///   - headers: Further fields of the response; one of the upgrade's own replaces that.
    ///   - subprotocol: The protocol that is chosen; nil, the default: none.
    ///   - compresses: Whether permessage-deflate is agreed to when it is offered; false by default.
    ///   - serve: The server's side. Its task is cancelled when the client leaves and when the server is shut down; an error that it throws
    ///     ends it.
    public static func webSocket(
        headers: HTTPHeaders = [:], subprotocol: String? = nil, compresses: Bool = false,
        _ serve: @escaping @Sendable (MockWebSocket) async throws -> Void
    ) -> MockServer.Response {
        var response = MockServer.Response(status: 101, headers: headers)
        response.socket = SocketScript(subprotocol: subprotocol, compresses: compresses, serve: serve)
        return response
    }
}
