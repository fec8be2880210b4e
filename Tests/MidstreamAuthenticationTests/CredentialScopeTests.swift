import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Where credentials go, redirects included.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct CredentialScopeTests {
    private func send(
        to urls: [String], base: String? = nil, origins: [String]? = nil, redirecting: [String: String] = [:]
    ) async throws -> (sent: [String], refreshes: Int) {
        let authenticator = TestAuthenticator()
        let stub = StubTransport { request in
            guard let target = redirecting[request.urlText] else { return HTTPResponse(status: .ok, request: request) }
            return HTTPResponse(status: .temporaryRedirect, headers: [.location: target], request: request)
        }
        let client = testClient(baseURL: base, transport: stub) {
            AuthenticationInterceptor(authenticator, origins: origins)
        }
        for url in urls { _ = try await client.send(HTTPRequest(url)) }
        return (stub.credentials, authenticator.refreshes)
    }

    @Test(arguments: [
        "https://api.example/other", "https://API.example:443/x", "https://api.example?x", "https://api.example#x", "users",
    ])
    func theOriginOfTheBaseURLGetsTheCredential(url: String) async throws {
        #expect(try await send(to: [url], base: "https://api.example/v2").sent == ["token 1"])
    }

    @Test(arguments: [
        "http://api.example/", "https://api.example:8443/", "https://api.example.evil/", "https://evil/https://api.example/",
        "https://api.example:443@evil/", "https://api.example@evil/",
    ])
    func anotherOriginGetsNoneOfIt(url: String) async throws {
        let (sent, refreshes) = try await send(to: [url], base: "https://api.example/v2")
        #expect(!sent.contains("token 1"))
        #expect(refreshes == 0)
    }

    @Test(
        "An origin of http gives its credential by https as well, on the port that becomes of its own",
        arguments: [
            ("http://a.example", "https://a.example/", true), ("http://a.example:80", "https://a.example:443/", true),
            ("http://a.example:8080", "https://a.example:8080/", true), ("http://a.example:8080", "https://a.example/", false),
            ("http://a.example", "https://a.example:80/", false), ("http://a.example", "https://b.example/", false),
            ("https://a.example:80", "http://a.example/", false),
        ])
    func secured(base: String, url: String, isIn: Bool) async throws {
        #expect(try await send(to: [url], base: base).sent == [isIn ? "token 1" : ""])
        #expect(try await send(to: [base, url]).sent == ["token 1", isIn ? "token 1" : ""])
    }

    @Test func withoutABaseURLTheFirstOriginGetsIt() async throws {
        let (sent, _) = try await send(to: ["https://a.example/1", "https://b.example/", "https://a.example/2"])
        #expect(sent == ["token 1", "", "token 1"])
    }

    @Test func anExplanationDecidesNothing() async throws {
        let stub = StubTransport(status: .ok)
        let client = testClient(transport: stub) { AuthenticationInterceptor(TestAuthenticator()) }
        _ = try await client.explain(HTTPRequest("https://b.example/"))
        for url in ["https://a.example/", "https://b.example/"] { _ = try await client.send(HTTPRequest(url)) }
        #expect(stub.credentials == ["token 1", ""])
    }

    @Test func givenOriginsGetItAndNoOther() async throws {
        let urls = ["https://a.example/1", "https://b.example/", "https://base.example/"]
        let (sent, _) = try await send(
            to: urls, base: "https://base.example", origins: ["https://a.example", "https://b.example/x"])
        #expect(sent == ["token 1", "token 1", ""])
    }

    @Test func anOriginMayBeThatOfASocket() async throws {
        let urls = ["https://a.example/feed", "http://b.example:81/feed", "http://a.example/", "https://b.example:81/"]
        let (sent, _) = try await send(to: urls, origins: ["wss://a.example/feed", "WS://b.example:81"])
        #expect(sent == ["token 1", "token 1", "", ""])
    }

    @Test(arguments: ["api.example", "ftp://api.example", "", "https://"])
    func anOriginThatIsNoneIsRefused(origin: String) async throws {
        let error = await #expect(throws: HTTPError.self) { try await send(to: ["https://a.example"], origins: [origin]) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func aRedirectInsideTheOriginKeepsItAndOneToAnotherLosesIt() async throws {
        let (sent, refreshes) = try await send(
            to: ["/1"], base: "https://a.example",
            redirecting: [
                "https://a.example/1": "/2", "https://a.example/2": "https://b.example/3",
                "https://b.example/3": "https://a.example/4",
            ])
        #expect(sent == ["token 1", "token 1", "", ""])
        #expect(refreshes == 1)
    }

    @Test(arguments: ["https://b.example/", "https://a.example/back"])
    func aRejectionOfARequestThatHadLostTheCredentialRefreshesNothing(last: String) async throws {
        let authenticator = TestAuthenticator()
        let stub = StubTransport { request in
            switch request.urlText {
            case last: HTTPResponse(status: .unauthorized, request: request)
            case "https://b.example/":
                HTTPResponse(status: .found, headers: [.location: "https://a.example/back"], request: request)
            default: HTTPResponse(status: .found, headers: [.location: "https://b.example/"], request: request)
            }
        }
        let client = testClient(baseURL: "https://a.example", transport: stub) {
            AuthenticationInterceptor(authenticator, credential: "old")
        }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .unacceptableStatus)
        #expect(authenticator.refreshes == 0)
    }

    @Test func atTheExchangeEachHopIsJudgedByItself() async throws {
        let stub = StubTransport { request in
            switch request.urlText {
            case "https://a.example/": HTTPResponse(status: .found, headers: [.location: "https://b.example/"], request: request)
            case "https://b.example/":
                HTTPResponse(status: .found, headers: [.location: "https://a.example/back"], request: request)
            default: HTTPResponse(status: .ok, request: request)
            }
        }
        let client = testClient(baseURL: "https://a.example", transport: stub) {
            AuthenticationInterceptor(TestAuthenticator()).at(.exchange)
        }
        _ = try await client.send(HTTPRequest("/"))
        #expect(stub.credentials == ["token 1", "", "token 1"])
    }
}
