internal import Interception
public import MidstreamCore
internal import WebSocketFrames

/// What a server of a test does with a socket.
struct SocketScript: Sendable {
    let subprotocol: String?
    let compresses: Bool
    let serve: @Sendable (MockWebSocket) async throws -> Void

    /// The fields of the 101 that answers an upgrade with these, and what compression is agreed on by it.
    ///
    /// - Parameter headers: Further fields of the 101; they take the place of its own of their names.
    func agreement(to asked: HTTPHeaders, with headers: HTTPHeaders) -> (fields: HTTPHeaders, deflate: DeflateParameters?) {
        var own: HTTPHeaders = [
            "Connection": "Upgrade", "Upgrade": "websocket",
            "Sec-WebSocket-Accept": HandshakeKey.answer(to: asked["Sec-WebSocket-Key"] ?? ""),
        ]
        if let subprotocol { own["Sec-WebSocket-Protocol"] = subprotocol }
        let deflate = compresses && asked["Sec-WebSocket-Extensions"] == DeflateParameters.offer ? DeflateParameters() : nil
        if let deflate { own["Sec-WebSocket-Extensions"] = deflate.answer }
        var fields = headers
        fields.merge(defaults: own)
        return (fields, deflate)
    }

    func run(on channel: any ByteChannel, _ deflate: DeflateParameters?) async {
        try? await serve(MockWebSocket(channel, deflate))
    }
}

extension HTTPResponse {
    /// A 101 that agrees to an upgrade, for a ``StubTransport``: what happens on the socket is a script, without a network.
    ///
    /// ```swift
    /// let stub = StubTransport { request in .webSocket(answering: request) { try await $0.echo() } }
    /// ```
    ///
    /// Its parameters are those of ``MockServer/Response/webSocket(headers:subprotocol:compresses:_:)``; the script's task is cancelled when
    /// the client leaves.
    public static func webSocket(
        answering request: HTTPRequest, headers: HTTPHeaders = [:], subprotocol: String? = nil, compresses: Bool = false,
        _ serve: @escaping @Sendable (MockWebSocket) async throws -> Void
    ) -> HTTPResponse {
        let script = SocketScript(subprotocol: subprotocol, compresses: compresses, serve: serve)
        let (fields, deflate) = script.agreement(to: request.headers, with: headers)
        let (client, server) = MemoryChannel.pair()
        // No part of the call, whose deadline would be that of the script's own calls as well.
        let task = ChainPosition.local.withValue(nil) {
            Task {
                await script.run(on: server, deflate)
                server.endSending()
            }
        }
        let leave: @Sendable () -> Void = {
            client.close()
            task.cancel()
        }
        let body = HTTPBody.incoming(
            next: {
                let bytes = try await client.read()
                // Whoever writes mustn't wait for ever for somebody who reads it.
                if bytes == nil { leave() }
                return bytes
            }, close: leave)
        var response = HTTPResponse(status: 101, headers: fields, body: body, request: request)
        response.writer = client
        return response
    }
}
