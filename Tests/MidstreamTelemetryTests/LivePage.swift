import Foundation
import MidstreamTelemetry
import TestSupport
import Testing

/// Reads the live page as a browser does.
struct LivePage {
    let port: Int
    let path: String
    private let host: String

    init(_ inspector: InspectorObserver) throws {
        let url = try #require(URLComponents(string: inspector.url))
        port = try #require(url.port)
        path = url.path
        host = "127.0.0.1:\(port)"
    }

    func request(_ rest: String = "", _ method: String = "GET", fields: String = "") -> String {
        "\(method) \(path)\(rest) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n"
    }

    /// What comes back until the server closes the connection.
    func answer(to request: String) async throws -> String {
        let client = try RawClient(port: port)
        client.send(request)
        return await client.readAll().text
    }

    func html() async throws -> String { split(try await answer(to: request())).body }

    /// Events after a number, up to another one.
    func events(after first: Int = 0, upTo last: Int, fields: String = "") async throws -> String {
        let client = try RawClient(port: port)
        client.send(request("events?after=\(first)", fields: fields))
        return split(await client.read { $0.contains("id: \(last)\n") && $0.hasSuffix("\n\n") }).body
    }
}
