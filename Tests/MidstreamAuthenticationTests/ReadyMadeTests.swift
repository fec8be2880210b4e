import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct BearerAndBasicTests {
    @Test("An authenticator may stand in the list by itself")
    func bareAuthenticators() async throws {
        let stub = StubTransport(status: .ok)
        let isBasic = true
        let clients = [
            testClient(baseURL: "https://api.example", transport: stub) { BearerAuthenticator { _ in "t" } },
            testClient(baseURL: "https://api.example", transport: stub) {
                if isBasic { BasicAuthenticator(user: "a", password: "b") }
                TestAuthenticator()
            },
        ]
        for client in clients { _ = try await client.send(HTTPRequest("/")) }
        #expect(stub.requests.map { $0.headers.values(.authorization) } == [["Bearer t"], ["Basic YTpi", "token 1"]])
    }

    @Test func aBearerTokenComesFromTheClosureAndIsReplacedWhenRejected() async throws {
        let asked = Locked<[String?]>([])
        let stub = StubTransport.accepting("Bearer new")
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(
                BearerAuthenticator { old in
                    asked.withLock { $0.append(old) }
                    return old == nil ? "first" : "new"
                })
        }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.credentials == ["Bearer first", "Bearer new"])
        #expect(asked.withLock { $0 } == [nil, "first"])
    }

    @Test func aBearerTokenIsReplacedAheadOfItsEnd() async throws {
        let stub = StubTransport.accepting("Bearer new")
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(BearerAuthenticator(expires: { $0 == "old" }) { _ in "new" }, credential: "old")
        }
        _ = try await client.send(HTTPRequest("/"))
        #expect(stub.credentials == ["Bearer new"])
    }

    @Test func aTokenThatIsEmptyIsReplacedLikeAnyOther() async throws {
        let stub = StubTransport.accepting("Bearer new")
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(BearerAuthenticator { $0 == nil ? "" : "new" })
        }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.credentials == ["Bearer", "Bearer new"])
    }

    @Test func aFixedTokenThatIsRejectedIsNotSentAgain() async throws {
        let stub = StubTransport(status: .unauthorized)
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(BearerAuthenticator(token: "fixed"))
        }
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(stub.credentials == ["Bearer fixed"])
    }

    @Test func aRequestKeepsItsOwnAuthorization() async throws {
        let stub = StubTransport(status: .unauthorized)
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(BearerAuthenticator { _ in "token" })
        }
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/", headers: [.authorization: "Own"])) }
        #expect(stub.credentials == ["Own"])
    }

    @Test func aRequestWithItsOwnAuthorizationWaitsForNoRefreshAndBelongsToNoLogin() async throws {
        let stub = StubTransport(status: .ok)
        let session = AuthenticationInterceptor(BearerAuthenticator { _ in throw LoginFailed() })
        let client = testClient(baseURL: "https://api.example", transport: stub) { session }
        let own = HTTPRequest("/", headers: [.authorization: "Own"])
        #expect(try await client.send(own).status == .ok)
        try await session.logOut()
        #expect(try await client.send(own).status == .ok)
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(stub.credentials == ["Own", "Own"])
        #expect("\(try await client.explain(own))".contains("the request has credentials of its own"))
    }

    /// As somebody else would write it.
    private struct SchemeOfOnesOwn: Authenticator {
        let keepsOwnAuthorization: Bool

        func apply(_ credential: String, to request: inout HTTPRequest) { request.headers[.authorization] = credential }
        func refresh(_ credential: String?) async throws -> String { throw LoginFailed() }
    }

    @Test(arguments: [true, false])
    func aSchemeOfOnesOwnSaysWhetherARequestKeepsItsOwnAuthorization(keepsOwn: Bool) async throws {
        let stub = StubTransport(status: .ok)
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(SchemeOfOnesOwn(keepsOwnAuthorization: keepsOwn), credential: "session")
        }
        _ = try await client.send(HTTPRequest("/", headers: [.authorization: "Own"]))
        #expect(stub.credentials == [keepsOwn ? "Own" : "session"])
    }

    @Test func aTokenThatCanNotBeAHeaderIsRefused() async throws {
        let stub = StubTransport(status: .ok)
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(BearerAuthenticator(token: "two\r\nlines"))
        }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .invalidRequest)
        #expect(stub.requests.isEmpty)
    }

    @Test func basicCredentialsAreSentUnasked() async throws {
        let stub = StubTransport(status: .ok)
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(BasicAuthenticator(user: "Aladdin", password: "open sesame"))
        }
        _ = try await client.send(HTTPRequest("/"))
        // RFC 7617 §2.
        #expect(stub.credentials == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
    }

    @Test func basicCredentialsThatAreRejectedAreNotSentAgain() async throws {
        let stub = StubTransport(status: .unauthorized)
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(BasicAuthenticator(user: "u", password: "p"))
        }
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(stub.requests.count == 1)
    }

    @Test func aUserNameWithAColonIsRefused() async throws {
        let client = testClient(baseURL: "https://api.example", transport: StubTransport(status: .ok)) {
            AuthenticationInterceptor(BasicAuthenticator(user: "a:b", password: "p"))
        }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .authentication)
        #expect((error?.underlying as? HTTPError)?.code == .invalidRequest)
    }
}

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct APIKeyTests {
    private func urls(
        _ interceptor: APIKeyInterceptor, _ url: String, redirecting: [String: String] = [:]
    ) async throws -> [HTTPRequest] {
        let stub = StubTransport { request in
            guard let target = redirecting[request.urlText] else { return HTTPResponse(status: .ok, request: request) }
            return HTTPResponse(status: .found, headers: [.location: target], request: request)
        }
        _ = try await testClient(baseURL: "https://a.example", transport: stub) { interceptor }.send(HTTPRequest(url))
        return stub.requests
    }

    @Test func inAHeaderItGoesToEachHopWithinTheOrigins() async throws {
        let hops = try await urls(
            APIKeyInterceptor("k3y", header: "X-Custom-Key"), "/1",
            redirecting: ["https://a.example/1": "https://b.example/2", "https://b.example/2": "https://a.example/3"])
        #expect(hops.map { $0.headers["X-Custom-Key"] } == ["k3y", nil, "k3y"])
        #expect(!"\(hops[0].debugDescription)".contains("k3y"))
    }

    @Test func inTheQueryItIsEncodedAndKeptFromOtherOriginsEvenWhenCopied() async throws {
        let hops = try await urls(
            APIKeyInterceptor("k 3y&", query: "app_id_a"), "/1?x=1",
            redirecting: [
                "https://a.example/1?x=1&app_id_a=k%203y%26": "https://b.example/2?app_id_a=k%203y%26&y=2",
                "https://b.example/2?y=2": "https://a.example/3",
            ])
        #expect(
            hops.map(\.urlText) == [
                "https://a.example/1?x=1&app_id_a=k%203y%26", "https://b.example/2?y=2", "https://a.example/3?app_id_a=k%203y%26",
            ])
        #expect(!hops[0].description.contains("3y"))
    }

    @Test(arguments: [
        "app_id=a%2fb%2b%3d%20c", "app%5fid=a/b%2B=+c", "app_id=a/b+=%20c",
        "rd=https%3A%2F%2Fa.example%2F1%3Fapp_id%3Da%252Fb%252B%253D%2520c", "rd=https://a.example/1?app_id=a%2Fb%2B%3D+c",
        "rd=https%3A%2F%2Fc.example%2F%3Frd%3Dhttps%253A%252F%252Fa.example%252F1%253Fapp_id%253Da%25252Fb%25252B%25253D%252520c",
    ])
    func howeverItIsEncodedByWhomCopiesIt(copy: String) async throws {
        let hops = try await urls(
            APIKeyInterceptor("a/b+= c", query: "app_id"), "/1",
            redirecting: ["https://a.example/1?app_id=a%2Fb%2B%3D%20c": "https://b.example/2?\(copy)&y=2"])
        #expect(hops.map(\.urlText) == ["https://a.example/1?app_id=a%2Fb%2B%3D%20c", "https://b.example/2?y=2"])
    }

    @Test func whatOnlyLooksLikeItIsKept() async throws {
        let target = "https://b.example/2?own_zid=abcdef&my_zid=abc&rd=%2F%3Fown_zid%3Dabc"
        let hops = try await urls(
            APIKeyInterceptor("abc", query: "zid"), "/1", redirecting: ["https://a.example/1?zid=abc": target])
        #expect(hops.map(\.urlText) == ["https://a.example/1?zid=abc", target])
    }

    @Test func whatTheRequestHasItselfIsKept() async throws {
        let header = try await urls(APIKeyInterceptor("k"), "/")
        #expect(header.map { $0.headers["X-API-Key"] } == ["k"])
        let query = try await urls(APIKeyInterceptor("k", query: "key"), "/?key=own")
        #expect(query.map(\.urlText) == ["https://a.example/?key=own"])
        let spelled = try await urls(APIKeyInterceptor("k", query: "key"), "/?%6Bey=own")
        #expect(spelled.map(\.urlText) == ["https://a.example/?%6Bey=own"])
    }

    @Test func theKeyIsInNoDescription() async throws {
        let interceptor = APIKeyInterceptor("s3cret", query: "app_id_b")
        let client = testClient(baseURL: "https://a.example", transport: StubTransport(status: .notFound)) { interceptor }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        var shown = "\(interceptor)\(String(reflecting: error))\(try #require(error?.trace))"
        shown += "\(try await client.explain(HTTPRequest("/")))"
        dump(interceptor, to: &shown)
        #expect(!shown.contains("s3cret"))
        #expect(shown.contains("app_id_b"))
    }

    @Test(arguments: ["?app_id_c=s3cret", "%3Fx%3D1%26app_id_c%3Ds3cret", "%253Fapp%255Fid_c%253Ds3cret"])
    func norIsItShownInsideTheURLOfARedirect(copy: String) async throws {
        let stub = StubTransport { request in
            guard request.urlText.hasPrefix("https://a.example/") else { return HTTPResponse(status: .ok, request: request) }
            let location = "https://sso.example/?y=a%3Db&rd=https://a.example/1\(copy)"
            return HTTPResponse(status: .found, headers: [.location: location], request: request)
        }
        let client = testClient(baseURL: "https://a.example", transport: stub) { APIKeyInterceptor("s3cret", query: "app_id_c") }
        let response = try await client.send(HTTPRequest("/1"))
        let shown = "\(response.trace)"
        #expect(shown.contains("https://sso.example/?y=a%3Db&rd="))
        #expect(!shown.contains("s3cret"))
        #expect(response.request.urlText == "https://sso.example/?y=a%3Db")
    }
}
