import Foundation
import Midstream
import MidstreamTesting
import MidstreamURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Coming from URLSession", .timeLimit(.minutes(10)))
struct FromURLSession {
    private struct User: Decodable, Sendable { let name: String }
    private struct Order: Encodable, Sendable { let amount: Int }
    private struct Receipt: Decodable, Sendable { let name: String }

    private let stub = StubTransport(status: .ok, body: .json(text: #"{"name": "Ann"}"#))

    @Test("A request and a body")
    func request() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let order = Order(amount: 1)
        let user = try await client.get("users/42")
            .query("full", true)
            .header(.accept, "application/json")
            .value(User.self)
        let receipt = try await client.post("orders", json: order).value(Receipt.self)
        #expect(user.name == receipt.name && stub.requests.last?.headers[.contentType] == "application/json")
    }

    @Test("What the delegate did")
    func delegate() async throws {
        let password = "p"
        let configuration = HTTPClient.Configuration(redirects: .refuse)
        let client = HTTPClient(baseURL: "https://api.example.com", configuration: configuration, transport: stub) {
            .basic(user: "ann", password: password)
        }
        _ = try await client.get("users/42").data()
        #expect(stub.requests.first?.headers[.authorization] == "Basic YW5uOnA=")
    }

    @Test("Streams, files, and the session that one has")
    func files() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: "one\ntwo\n") }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: file) }
        let baseURL = server.url()
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 20
        let client = HTTPClient(baseURL: baseURL, transport: URLSessionTransport(configuration: configuration))
        for try await line in try await client.stream(HTTPRequest("log")).body.lines() { print(line) }

        try await client.get("film").download(to: file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "one\ntwo\n")
    }
}
