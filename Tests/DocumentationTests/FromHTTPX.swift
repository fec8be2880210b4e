import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Coming from httpx and requests", .timeLimit(.minutes(10)))
struct FromHTTPX {
    private struct User: Codable, Sendable { let name: String }

    private let stub = StubTransport(status: .ok, body: .json(text: #"{"name": "Ann"}"#))

    @Test("A request")
    func request() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let user = try await client.get("users/42").query("full", true).value(User.self)
        #expect(user.name == "Ann")
    }

    @Test("Bodies")
    func bodies() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let user = User(name: "Ann")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("x".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try await client.post("users", json: user).data()
        _ = try await client.post("login", body: .form([("name", "Ann")])).data()
        _ = try await client.post("films", body: .multipart([.field("title", "Rain"), .file("film", file)])).data()
        #expect(
            stub.requests.compactMap { $0.headers[.contentType]?.prefix { $0 != ";" } } == [
                "application/json", "application/x-www-form-urlencoded", "multipart/form-data",
            ])
    }

    @Test("A status that is an error")
    func statuses() async throws {
        let stub = StubTransport(status: .notFound, body: .json(text: #"{"name": "none"}"#))
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        do {
            _ = try await client.get("users/42").value(User.self)
        } catch let error as HTTPError where error.response?.status == .notFound {
            print(try error.decode(User.self), error.trace?.description ?? "")
        }
        #expect(stub.requests.count == 1)
    }

    @Test("A client with its own transport, for tests")
    func transports() async throws {
        let stub = StubTransport { request in
            HTTPResponse(status: .ok, body: .json(text: #"{"name": "Ann"}"#), request: request)
        }
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        #expect(try await client.get("users/42").value(User.self).name == "Ann")
    }
}
