import Foundation
import Interception
import Midstream
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// The flows of RFC 6749, with a server on a socket.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct OAuthTests {
    /// A server with a token endpoint and something that it protects.
    private final class Service: Sendable {
        let server: MockServer
        /// The access token that is accepted now.
        let accepted = Locked("none")
        let issued = Locked(0)

        init(answer: @escaping @Sendable (Int) -> String = { #"{"access_token":"access \#($0)","token_type":"Bearer"}"# }) throws
        {
            server = try MockServer()
            server.respond { [accepted, issued] request in
                guard request.path == "/token" else {
                    let isAccepted = request.headers[.authorization] == "Bearer \(accepted.withLock { $0 })"
                    return .init(status: isAccepted ? .ok : .unauthorized)
                }
                let number = issued.increment()
                accepted.withLock { $0 = "access \(number)" }
                return .init(body: .json(text: answer(number)))
            }
        }

        deinit { server.shutdown() }

        var tokenRequests: [RecordedRequest] { server.requests.filter { $0.path == "/token" } }
    }

    private func endpoint(
        _ service: Service, client: String = "app", secret: String? = "s3cret", sendsSecretInForm: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> OAuthTokenEndpoint {
        OAuthTokenEndpoint(
            url: service.server.url("/token"), client: client, secret: secret, sendsSecretInForm: sendsSecretInForm,
            using: testClient(transport: platformTransport()), now: now)
    }

    private func client(_ service: Service, _ authenticator: OAuthAuthenticator) -> HTTPClient {
        testClient(baseURL: service.server.url(), transport: platformTransport()) {
            // On a clock that stands still: its limit of refreshes is one of time.
            AuthenticationInterceptor(authenticator, clock: TestClock())
        }
    }

    @Test("An error says the server's code in its own message, and no more of what the server wrote")
    func codeOfTheOuterError() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        for (code, shown) in [("invalid_client", "invalid_client"), ("b\u{e4}d\\u000acode", "an OAuth error")] {
            server.enqueue(
                .init(status: .unauthorized, body: .json(text: #"{"error": "\#(code)", "error_description": "long story"}"#)))
            let endpoint = OAuthTokenEndpoint(
                url: server.url("/token"), client: "app", secret: "s3cret", using: testClient())
            let client = testClient(baseURL: server.url()) { .oauth(.clientCredentials(), from: endpoint) }
            let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
            #expect(error?.code == .authentication)
            #expect(error.map { "\($0)" }?.contains("No credential could be obtained: \(shown).") == true)
            #expect(error.map { "\($0)" }?.contains("long story") == false)
        }
    }

    @Test func clientCredentialsInABasicHeader() async throws {
        let service = try Service()
        let oauth = OAuthAuthenticator(
            .clientCredentials(scope: "read write"), from: endpoint(service, client: "my app", secret: "a&b:c"))
        let client = client(service, oauth)
        for _ in 0..<2 { #expect(try await client.send(HTTPRequest("/")).status == .ok) }
        let request = try #require(service.tokenRequests.first)
        #expect(service.tokenRequests.count == 1)
        #expect(request.method == .post)
        #expect(request.headers[.contentType] == "application/x-www-form-urlencoded")
        #expect(request.text == "grant_type=client_credentials&scope=read+write")
        #expect(request.headers[.authorization] == "Basic " + Data("my+app:a%26b%3Ac".utf8).base64EncodedString())
    }

    @Test func clientCredentialsAmongTheFields() async throws {
        let service = try Service()
        let endpoint = endpoint(service, secret: "a b", sendsSecretInForm: true)
        _ = try await client(service, OAuthAuthenticator(.clientCredentials(), from: endpoint)).send(HTTPRequest("/"))
        let request = try #require(service.tokenRequests.first)
        #expect(request.text == "grant_type=client_credentials&client_id=app&client_secret=a+b")
        #expect(!request.headers.contains(.authorization))
    }

    @Test func aClientWithoutASecretNamesItself() async throws {
        let service = try Service()
        let store = InMemoryTokenStore(OAuthToken(accessToken: "dead", refreshToken: "r0"))
        let oauth = OAuthAuthenticator(.refreshToken(), from: endpoint(service, secret: nil), store: store)
        #expect(try await client(service, oauth).send(HTTPRequest("/")).status == .ok)
        #expect(service.tokenRequests.map(\.text) == ["grant_type=refresh_token&refresh_token=r0&client_id=app"])
    }

    @Test func aRejectedTokenIsReplacedByTheRefreshTokenWhichIsRotated() async throws {
        let service = try Service { #"{"access_token":"access \#($0)","token_type":"bearer","refresh_token":"r\#($0)"}"# }
        let store = InMemoryTokenStore(OAuthToken(accessToken: "dead", refreshToken: "r0"))
        let client = client(service, OAuthAuthenticator(.refreshToken(), from: endpoint(service), store: store))
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        service.accepted.withLock { $0 = "revoked" }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(
            service.tokenRequests.map(\.text) == [
                "grant_type=refresh_token&refresh_token=r0", "grant_type=refresh_token&refresh_token=r1",
            ])
        let kept = try await store.load()
        #expect(kept?.accessToken == "access 2")
        #expect(kept?.refreshToken == "r2")
    }

    @Test func aServerThatSendsNoNewRefreshTokenLeavesTheOldOneGood() async throws {
        let service = try Service()
        let store = InMemoryTokenStore(OAuthToken(accessToken: "dead", refreshToken: "r0"))
        _ = try await client(service, OAuthAuthenticator(.refreshToken(), from: endpoint(service), store: store))
            .send(HTTPRequest("/"))
        #expect(try await store.load()?.refreshToken == "r0")
    }

    @Test(arguments: [#""expires_in":100"#, #""expires_in":"100""#])
    func aTokenIsReplacedAheadOfItsEnd(field: String) async throws {
        let now = Locked(Date(timeIntervalSince1970: 0))
        let service = try Service { #"{"access_token":"access \#($0)",\#(field)}"# }
        let time: @Sendable () -> Date = { now.withLock { $0 } }
        let oauth = OAuthAuthenticator(
            .clientCredentials(), from: endpoint(service, now: time), leeway: .seconds(30), now: time)
        let client = client(service, oauth)
        for (second, tokens) in [(0, 1), (69, 1), (70, 2), (139, 2), (140, 3)] {
            now.withLock { $0 = Date(timeIntervalSince1970: TimeInterval(second)) }
            #expect(try await client.send(HTTPRequest("/")).status == .ok)
            #expect(service.tokenRequests.count == tokens)
        }
        // Never by a rejection.
        #expect(service.server.requests.filter { $0.path == "/" }.count == 5)
    }

    @Test func aTokenThatIsDueIsUsedUntilItsEndWhileTheEndpointIsDown() async throws {
        let (now, asked, isDown) = (Locked(Date(timeIntervalSince1970: 0)), Locked(0), Locked(false))
        let time: @Sendable () -> Date = { now.withLock { $0 } }
        let tokens = StubTransport { request in
            asked.withLock { $0 += 1 }
            if isDown.withLock({ $0 }) { throw HTTPError(.connection) }
            let token = #"{"access_token":"access \#(asked.withLock { $0 })","expires_in":100}"#
            return HTTPResponse(status: .ok, body: .text(token), request: request)
        }
        let isRejected = Locked(false)
        let api = StubTransport { request in
            HTTPResponse(status: isRejected.withLock { $0 } ? .unauthorized : .ok, request: request)
        }
        let endpoint = OAuthTokenEndpoint(url: "https://login/", client: "app", using: testClient(transport: tokens), now: time)
        let oauth = OAuthAuthenticator(.clientCredentials(), from: endpoint, leeway: .seconds(30), now: time)
        let clock = TestClock()
        let client = testClient(baseURL: "https://h", transport: api) { AuthenticationInterceptor(oauth, clock: clock) }
        func send(at second: TimeInterval) async throws -> Int {
            now.withLock { $0 = Date(timeIntervalSince1970: second) }
            clock.advance(by: .seconds(60))
            _ = try await client.send(HTTPRequest("/"))
            // Not asked again during the pause.
            _ = try await client.send(HTTPRequest("/"))
            return asked.withLock { $0 }
        }
        #expect(try await send(at: 0) == 1)
        isDown.withLock { $0 = true }
        #expect(try await send(at: 75) == 2)
        #expect(try await send(at: 99) == 3)
        #expect(Set(api.requests.map { $0.headers[.authorization] }) == ["Bearer access 1"])
        isRejected.withLock { $0 = true }
        #expect(await httpError { _ = try await send(at: 99) }?.code == .authentication)
        isRejected.withLock { $0 = false }
        #expect(await httpError { _ = try await send(at: 100) }?.code == .authentication)
        isDown.withLock { $0 = false }
        _ = try await send(at: 101)
        #expect(api.requests.last?.headers[.authorization] != "Bearer access 1")
    }

    @Test func aShortLivedTokenIsUsedForHalfOfItsLife() async throws {
        let now = Locked(Date(timeIntervalSince1970: 0))
        let time: @Sendable () -> Date = { now.withLock { $0 } }
        let service = try Service { #"{"access_token":"access \#($0)","expires_in":10}"# }
        let client = client(service, OAuthAuthenticator(.clientCredentials(), from: endpoint(service, now: time), now: time))
        for (second, tokens) in [(0, 1), (4, 1), (5, 2)] {
            now.withLock { $0 = Date(timeIntervalSince1970: TimeInterval(second)) }
            _ = try await client.send(HTTPRequest("/"))
            #expect(service.tokenRequests.count == tokens)
        }
    }

    @Test func aTokenThatAnotherProcessHasPutInTheStoreIsUsed() async throws {
        let service = try Service()
        let store = InMemoryTokenStore(OAuthToken(accessToken: "mine", refreshToken: "r0"))
        let client = client(service, OAuthAuthenticator(.refreshToken(), from: endpoint(service), store: store))
        service.accepted.withLock { $0 = "mine" }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        service.accepted.withLock { $0 = "theirs" }
        try await store.save(OAuthToken(accessToken: "theirs", refreshToken: "r1"))
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(service.tokenRequests.isEmpty)
    }

    @Test func withoutARefreshTokenNothingIsSent() async throws {
        let service = try Service()
        let client = client(service, OAuthAuthenticator(.refreshToken(), from: endpoint(service)))
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .authentication)
        #expect((error?.underlying as? OAuthError)?.code == .noRefreshToken)
        #expect(service.server.requestCount == 0)
    }

    @Test func aRefusalOfTheEndpointIsTyped() async throws {
        let service = try Service()
        service.server.enqueue(
            .init(
                status: .badRequest,
                body: .json(
                    text: #"{"error":"invalid_grant","error_description":"r0 and r0\u0301 revoked","#
                        + #""error_uri":"https://a.example/e"}"#))
        )
        let store = InMemoryTokenStore(OAuthToken(accessToken: "dead", refreshToken: "r0", expires: .distantPast))
        let client = client(service, OAuthAuthenticator(.refreshToken(), from: endpoint(service), store: store))
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        let refusal = try #require(error?.underlying as? OAuthError)
        #expect(refusal.code == .invalidGrant)
        #expect(refusal.status == .badRequest)
        #expect(refusal.uri == "https://a.example/e")
        #expect(refusal.message == "‹withheld› and ‹withheld›\u{301} revoked")
        #expect(service.server.requestCount == 1)
    }

    @Test(
        "A server that echoes the form shows none of its values, in neither spelling, and no control character reaches a terminal"
    )
    func echoedForm() async throws {
        let endpoint = OAuthTokenEndpoint(url: "https://login.example/t", client: "app", secret: "s3&cret") {
            let form = String(decoding: $0.body.bytes ?? [], as: UTF8.self)
            let echo = "\(form) pa ss&word 1 s3&cret s3%26cret v+e/r \\u001b[31m\\u0007\\u009b\\n"
            return HTTPResponse(
                status: .badRequest,
                body: .bytes(
                    Array(#"{"error":"invalid_\u001bgrant","error_description":"\#(echo)","error_uri":"x:\#(form)"}"#.utf8)),
                request: $0)
        }
        let error = await #expect(throws: OAuthError.self) {
            try await endpoint.token(for: [
                ("grant_type", "password"), ("username", "ann@example"), ("password", "pa ss&word 1"), ("otp", "pa ss&w"),
                ("code_verifier", "v+e/r"),
            ])
        }
        let shown = try #require(error)
        for text in [shown.description, shown.message ?? "", shown.uri ?? "?"] {
            for secret in ["ann", "pa ss", "pa+ss", "ss&word", "ss%26word", "s3&", "s3%26", "v+e/r", "v%2Be%2Fr"] {
                #expect(!text.contains(secret), "\(secret) in \(text)")
            }
        }
        #expect(shown.uri?.hasPrefix("x:grant_type=password&username=‹withheld›&") == true)
        #expect(shown.description.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        #expect(shown.description.contains(#"invalid_\u{1B}grant: "#))
        #expect(shown.description.contains(#"\u{1B}[31m\u{7}\u{9B}\u{A} ["#))
    }

    @Test("An endpoint that gives tokens which are due at once isn't asked for each call")
    func tokensThatAreDueAtOnce() async throws {
        let service = try Service { #"{"access_token":"access \#($0)","expires_in":-1}"# }
        let client = client(service, OAuthAuthenticator(.clientCredentials(), from: endpoint(service)))
        for _ in 0..<20 { #expect(try await client.send(HTTPRequest("/")).status == .ok) }
        #expect(service.tokenRequests.count == 5)
    }

    @Test(arguments: [(#"["a","b"]"#, "a b"), (#""a b""#, "a b"), ("7", nil)] as [(String, String?)])
    func aTokenIsTakenWhateverItsScopeLooksLike(scope: String, text: String?) async throws {
        let service = try Service()
        service.server.enqueue(
            .init(body: .json(text: #"{"access_token":"t","refresh_token":"","expires_in":60,"scope":\#(scope)}"#)))
        let token = try await endpoint(service).token(for: [("grant_type", "authorization_code")])
        #expect(token.accessToken == "t" && token.scope == text && token.refreshToken == nil)
    }

    @Test(arguments: ["0", #""0""#])
    func aTokenThatEndsInNoTimeHasNoEnd(seconds: String) async throws {
        let service = try Service()
        service.server.enqueue(.init(body: .json(text: #"{"access_token":"t","expires_in":\#(seconds)}"#)))
        #expect(try await endpoint(service).token(for: [("grant_type", "authorization_code")]).expires == nil)
    }

    @Test(arguments: ["bot", "BearerToken", "jwt-bearer"])
    func aTokenOfATypeThatTakesNoProofIsABearersToken(type: String) async throws {
        let service = try Service()
        service.server.enqueue(.init(body: .json(text: #"{"access_token":"t","token_type":"\#(type)"}"#)))
        #expect(try await endpoint(service).token(for: [("grant_type", "authorization_code")]).accessToken == "t")
    }

    @Test func aRefusalThatComesAsASuccessKeepsItsCode() async throws {
        let service = try Service()
        service.server.enqueue(
            .init(body: .json(text: #"{"error":"authorization_pending","error_description":"wait"}"#)))
        let error = await #expect(throws: OAuthError.self) {
            try await endpoint(service).token(for: [("grant_type", "device_code")])
        }
        #expect(error?.code.rawValue == "authorization_pending" && error?.status == .ok)
    }

    @Test(arguments: [
        (HTTPStatus.ok, "<html>"), (.ok, "{}"), (.ok, #"{"access_token":""}"#),
        (.ok, #"{"access_token":"t","token_type":"mac"}"#),
        (.internalServerError, "oops"), (.found, ""),
    ])
    func anythingElseIsAMalformedAnswer(status: HTTPStatus, body: String) async throws {
        let service = try Service()
        service.server.enqueue(.init(status: status, headers: [.location: "/elsewhere"], body: .text(body)))
        let client = client(service, OAuthAuthenticator(.clientCredentials(), from: endpoint(service)))
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        let refusal = try #require(error?.underlying as? OAuthError)
        #expect(refusal.code == .malformedResponse)
        #expect(refusal.status == status)
        let reason = status.isSuccess ? "malformed_response" : "the token endpoint answered \(status.code)"
        #expect(error?.message.contains("No credential could be obtained: \(reason).") == true)
        // A redirect isn't followed, since it would take the secrets along.
        #expect(service.server.requestCount == 1)
    }

    @Test func theEndpointMayBeAskedByTheClientItself() async throws {
        let service = try Service()
        let box = Locked<HTTPClient?>(nil)
        let endpoint = OAuthTokenEndpoint(url: "/token", client: "app", secret: "x") { request in
            guard let client = box.withLock({ $0 }) else { throw CancellationError() }
            return try await client.send(request)
        }
        let client = client(service, OAuthAuthenticator(.clientCredentials(), from: endpoint))
        box.withLock { $0 = client }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        box.withLock { $0 = nil }
    }

    @Test("A fallback of the client that asks for tokens isn't taken for the endpoint's answer")
    func fallback() async throws {
        let client = testClient(transport: StubTransport { _ in throw HTTPError(.connection) }) {
            Fallback { request, _ in HTTPResponse(status: .ok, body: .text("[]"), request: request) }
        }
        let endpoint = OAuthTokenEndpoint(url: "https://login.example/token", client: "app", using: client)
        let error = await httpError { try await endpoint.token(for: [("grant_type", "client_credentials")]) }
        #expect(error?.code == .connection)
    }
}
