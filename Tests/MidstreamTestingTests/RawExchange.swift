import MidstreamTesting
import TestSupport

/// What a server that has these responses sends to a client that sends this, up to the end of their connection.
func rawExchange(
    _ responses: MockServer.Response..., request: String = get(fields: "Connection: close")
) async throws -> (text: String, end: RawClient.End) {
    let server = try MockServer()
    defer { server.shutdown() }
    server.enqueue(responses)
    let client = try RawClient(port: server.port)
    client.send(request)
    return await client.readAll()
}
