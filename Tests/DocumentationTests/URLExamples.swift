import Foundation
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
        let key = "photos/a#1.jpg"
        let photo = try await client.get("bucket/\(path: key)").data()  // bucket/photos/a%231.jpg
        let page = try await client.get("\(raw: server)/users/\(name)?page=\(2)").data()
        #expect(user.isEmpty && photo.isEmpty && page.isEmpty)
        #expect(
            stub.requests.map(\.urlText) == [
                "https://api.example.com/users/..%2Fadmin%3F", "https://api.example.com/bucket/photos/a%231.jpg",
                "https://other.example/users/..%2Fadmin%3F?page=2",
            ])
        #expect(stub.requests.map(\.route) == ["users/{}", "bucket/{}", "https://other.example/users/{}?page={}"])
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

    @Test("Base and path, beside RFC 3986")
    func joining() async throws {
        let rows = try MarkdownPage(path: "Documentation/URLs.md").lines().map { line in
            line.matches(of: /`([^`]+)`/).map { String($0.1) }
        }
        .drop { $0 != ["https://h/v2", "https://h/v2/"] }.dropFirst(2).prefix { !$0.isEmpty }
        #expect(rows.count == 8)
        for row in rows {
            for base in ["https://h/v2", "https://h/v2/"] {
                let sent: String
                do {
                    sent = try await HTTPClient(baseURL: base, transport: stub).send(HTTPRequest(row[0])).request.urlText
                } catch let error as HTTPError {
                    sent = "\(error.code)"
                }
                #expect(sent == row[1].replacing("/v2?", with: base.hasSuffix("/") ? "/v2/?" : "/v2?"), "\(row[0])")
                let resolved = URL(string: row[0], relativeTo: URL(string: base))?.absoluteString
                #expect(resolved == row[base.hasSuffix("/") ? 3 : 2], "\(row[0]) by RFC 3986")
            }
        }
        let keyed = HTTPClient(baseURL: "https://h/v2?key=1", transport: stub)
        #expect(try await keyed.send(HTTPRequest("users?page=2")).request.urlText == "https://h/v2/users?page=2&key=1")
        #expect(try await keyed.send(HTTPRequest("")).request.urlText == "https://h/v2?key=1")
    }
}
