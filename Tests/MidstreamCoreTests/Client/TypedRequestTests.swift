import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Typed requests", .leavesNothing)
struct TypedRequestTests {
    private struct User: Codable, Equatable, Sendable {
        var name: String
    }

    private func client(_ status: HTTPStatus = .ok, _ body: String = #"{"name": "Ann"}"#) -> (HTTPClient, StubTransport) {
        let stub = StubTransport(status: status, body: .text(body))
        return (testClient(baseURL: "https://api.example.com", transport: stub), stub)
    }

    @Test("an answer is decoded as what the request says")
    func decoded() async throws {
        let (client, stub) = client()
        #expect(try await client.send(.get("users/42", as: User.self)) == User(name: "Ann"))
        let created: User = try await client.send(.post("users", body: .json(User(name: "Ann"))))
        #expect(created.name == "Ann")
        _ = try await client.send(.delete("users/42", as: User.self).with { $0.headers["X-Why"] = "left" })
        #expect(stub.requests.map(\.method) == [.get, .post, .delete])
        #expect(stub.requests.map(\.urlText).last == "https://api.example.com/users/42")
        #expect(stub.requests[1].headers[.contentType] == "application/json" && stub.requests[2].headers["X-Why"] == "left")
    }

    @Test("a rejected status and a body that is something else are errors")
    func errors() async {
        let missing = await httpError { try await client(.notFound).0.send(.get("users/42", as: User.self)) }
        #expect(missing?.code == .unacceptableStatus && missing?.response?.status == .notFound)
        let other = await httpError { try await client(.ok, "[]").0.send(.get("users/42", as: User.self)) }
        #expect(other?.code == .decoding && other?.trace?.spans.isEmpty == false)
    }

    @Test("a decoder of one's own is used")
    func decoder() async throws {
        struct Event: Decodable, Sendable { var createdAt: Int }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let event = try await client(.ok, #"{"created_at": 7}"#).0.send(.get("e", as: Event.self, decoder: decoder))
        #expect(event.createdAt == 7)
    }
}
