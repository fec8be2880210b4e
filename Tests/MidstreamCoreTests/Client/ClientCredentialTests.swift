import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("A client's own credentials", .leavesNothing)
struct ClientCredentialTests {
    private let stub = StubTransport.ok

    private func client(_ baseURL: String?) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.headers = [
            "Authorization": "Bearer s3cret", "Cookie": "sid=s3cret", "X-Key": "s3cret", "X-Plain": "plain", "User-Agent": "test",
        ]
        configuration.headers.markSensitive("X-Key")
        configuration.query = [("api_key", "s3cret"), ("lang", "en")]
        return testClient(baseURL: baseURL, configuration: configuration, transport: stub)
    }

    @Test(
        "go to the base URL's origin and to no other",
        arguments: [
            ("users", true), ("https://api.example.com/other", true), ("https://API.example.com:443/", true),
            ("http://api.example.com/", false), ("https://api.example.com:8443/", false), ("https://elsewhere.example/", false),
            ("https://api.example.com.evil.example/", false), ("https://api.example.com@evil.example/", false),
        ])
    func origins(url: String, isOwn: Bool) async throws {
        _ = try await client("https://user:pw@api.example.com/v2").send(HTTPRequest(url))
        let sent = try #require(stub.requests.first)
        #expect(sent.headers.contains("X-Key") == isOwn)
        #expect((sent.headers[.authorization] == "Bearer s3cret") == isOwn)
        #expect((sent.headers[.cookie] == "sid=s3cret") == isOwn)
        #expect(sent.urlText.contains("api_key=s3cret") == isOwn && sent.urlText.contains("lang=en"))
        #expect(sent.headers["X-Plain"] == "plain" && sent.headers[.userAgent] == "test")
    }

    @Test(
        "go to the host of an http base URL by https as well",
        arguments: [
            ("users", true), ("https://api.example.com/users", true), ("https://api.example.com:8443/", false),
            ("http://api.example.com:8080/", false), ("https://elsewhere.example/", false),
        ])
    func securedOrigin(url: String, isOwn: Bool) async throws {
        _ = try await client("http://api.example.com/v2").send(HTTPRequest(url))
        let sent = try #require(stub.requests.first)
        #expect(sent.headers.contains("X-Key") == isOwn && sent.headers.contains(.authorization) == isOwn)
        #expect(sent.urlText.contains("api_key=s3cret") == isOwn)
    }

    @Test(
        "that stand in the base URL go with what names the whole URL, too, unless it has others",
        arguments: [
            ("users", "Basic dXNlcjpwdw=="), ("https://api.example.com/users?page=2", "Basic dXNlcjpwdw=="),
            ("https://other:x@api.example.com/", "Basic b3RoZXI6eA=="), ("https://elsewhere.example/", nil),
            ("http://api.example.com/", nil),
        ] as [(String, String?)])
    func userOfBase(url: String, authorization: String?) async throws {
        _ = try await testClient(baseURL: "https://user:pw@api.example.com/v2", transport: stub).send(HTTPRequest(url))
        #expect(stub.requests.first?.headers[.authorization] == authorization)
    }

    @Test("go wherever a request does when there is no base URL")
    func withoutBase() async throws {
        for url in ["https://a.example/", "https://b.example/"] { _ = try await client(nil).send(HTTPRequest(url)) }
        #expect(stub.requests.allSatisfy { $0.headers[.authorization] == "Bearer s3cret" && $0.urlText.contains("api_key") })
    }
}
