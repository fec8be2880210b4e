import Midstream
import MidstreamTesting
import Testing

@Suite("URLs.md")
struct URLExamples {
    private let stub = StubTransport(status: .ok)

    @Test("Values stay where they are written")
    func values() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let server = "https://other.example"
        let name = "../admin?"
        let user = try await client.get("users/\(name)").data()  // users/..%2Fadmin%3F
        let page = try await client.get("\(raw: server)/users/\(name)?page=\(2)").data()
        #expect(user.isEmpty && page.isEmpty)
        #expect(
            stub.requests.map(\.urlText) == [
                "https://api.example.com/users/..%2Fadmin%3F", "https://other.example/users/..%2Fadmin%3F?page=2",
            ])
        #expect(stub.requests.map(\.route) == ["users/{}", "{}/users/{}?page={}"])
    }

    @Test("Templates")
    func templates() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let posts: URITemplate = "users/{id}/posts{?page,tag*}"
        let found = try await client.get(posts.expanded(["id": 42, "page": 2, "tag": ["swift", "linux"]])).data()
        let all = try await client.get(.template("users/{id}/posts{?page}", ["id": 42, "page": nil])).data()
        #expect(found.isEmpty && all.isEmpty)
        #expect(
            stub.requests.map(\.urlText) == [
                "https://api.example.com/users/42/posts?page=2&tag=swift&tag=linux", "https://api.example.com/users/42/posts",
            ])
        #expect(stub.requests.last?.route == "users/{id}/posts{?page}")
    }
}
