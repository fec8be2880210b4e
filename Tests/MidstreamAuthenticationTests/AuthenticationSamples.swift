import Midstream
import MidstreamTesting
import TestSupport
import Testing

/// The samples of `Documentation/Authentication.md`, compiled and run.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct AuthenticationSamples {
    private actor Session {
        var count = 0
        func token(insteadOf rejected: String?) async throws -> String {
            count += 1
            return "\(rejected ?? "") \(count)"
        }
    }

    @Test func aTokenFromTheApp() async throws {
        let session = Session()
        let stub = StubTransport(status: .ok)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            .bearer { rejected in try await session.token(insteadOf: rejected) }
        }
        _ = try await client.send(HTTPRequest("/"))
        #expect(stub.credentials == ["Bearer  1"])
    }

    @Test func oauth() async throws {
        let secret = "secret"
        let tokenFromLogin = OAuthToken(accessToken: "a", refreshToken: "r")
        let loginClient = HTTPClient(
            transport: StubTransport(status: .ok, body: .text(#"{"access_token":"t","token_type":"Bearer"}"#)))
        let endpoint = OAuthTokenEndpoint(
            url: "https://login.example.com/token", client: "app", secret: secret, using: loginClient)
        let machine = OAuthAuthenticator(.clientCredentials(scope: "read"), from: endpoint)
        let user = OAuthAuthenticator(.refreshToken(), from: endpoint, store: InMemoryTokenStore(tokenFromLogin))
        #expect(try await machine.refresh(nil).accessToken == "t")
        #expect(try await user.refresh(tokenFromLogin).refreshToken == "r")
    }

    @Test func fromLoginToLogout() async throws {
        let (code, redirect, verifier) = ("c0de", "https://app.example.com/back", "v")
        let login = StubTransport(sequence: [
            .respond(.ok, body: .json(text: #"{"access_token":"t1","token_type":"Bearer","refresh_token":"r1"}"#)),
            .respond(.ok, body: .json(text: #"{"access_token":"t2","token_type":"Bearer","refresh_token":"r2"}"#)),
            .respond(.ok),
        ])
        let loginClient = HTTPClient(baseURL: "https://login.example.com", transport: login)
        let endpoint = OAuthTokenEndpoint(url: "token", client: "app", using: loginClient)
        let stub = StubTransport { request in
            let isNew = request.headers[.authorization] == "Bearer t2"
            return HTTPResponse(status: isNew ? .ok : .unauthorized, body: "Ann", request: request)
        }

        // Log in.
        let first = try await endpoint.token(for: [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect), ("code_verifier", verifier),
        ])
        let store = InMemoryTokenStore()
        let session = AuthenticationInterceptor(OAuthAuthenticator(.refreshToken(), from: endpoint, store: store))
        try await session.logIn(first)

        // Use, and refresh.
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) { session }
        let profile = try await client.get("profile").string()

        try await logOut(session, store, loginClient)

        #expect(profile == "Ann")
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer t1", "Bearer t2"])
        let forms = login.requests.map { String(decoding: $0.body.bytes ?? [], as: UTF8.self) }
        #expect(forms[0].contains("code=c0de") && forms[1].contains("refresh_token=r1") && forms[2].contains("token=r2"))
    }

    private func logOut(
        _ session: AuthenticationInterceptor<OAuthAuthenticator>, _ store: InMemoryTokenStore, _ loginClient: HTTPClient
    ) async throws {
        let last = try? await store.load()
        async let logout: Void = session.logOut()
        if let last {
            let token = last.refreshToken ?? last.accessToken
            _ = try await loginClient.post("revoke", body: .form([("token", token), ("client_id", "app")])).data()
        }
        try await logout
    }

    @Test func aLogoutThatTheServerDoesNotHearOf() async throws {
        let loginClient = HTTPClient(
            baseURL: "https://login.example.com", transport: StubTransport(status: .serviceUnavailable))
        let endpoint = OAuthTokenEndpoint(url: "token", client: "app", using: loginClient)
        let store = InMemoryTokenStore()
        let session = AuthenticationInterceptor(OAuthAuthenticator(.refreshToken(), from: endpoint, store: store))
        try await session.logIn(OAuthToken(accessToken: "t", refreshToken: "r"))
        await #expect(throws: HTTPError.self) { try await logOut(session, store, loginClient) }
        #expect(try await store.load() == nil)
    }

    @Test func aPasswordAndAKey() async throws {
        let (password, key) = ("p", "k")
        let stub = StubTransport(status: .ok)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            .basic(user: "Aladdin", password: password)
                .apiKey(key, query: "key")
        }
        _ = try await client.send(HTTPRequest("/"))
        #expect(stub.requests[0].urlText == "https://api.example.com/?key=k")
        #expect(stub.credentials[0].hasPrefix("Basic "))
    }

    struct SessionAuthenticator: Authenticator {
        let client: HTTPClient

        func apply(_ session: String, to request: inout HTTPRequest) {
            request.headers["X-Session"] = session
            request.headers.markSensitive("X-Session")
        }

        func isRejected(_ response: HTTPResponse, using session: String) -> Bool {
            response.status == .unauthorized || response.status == .forbidden
        }

        func refresh(_ session: String?) async throws -> String {
            try await client.send(HTTPRequest(.post, "/session")).decode(String.self)
        }
    }

    @Test func aSchemeOfOnesOwn() async throws {
        let logins = HTTPClient(
            baseURL: "https://api.example.com", transport: StubTransport(status: .ok, body: .text("\"new\"")))
        let stub = StubTransport { HTTPResponse(status: $0.headers["X-Session"] == "new" ? .ok : .forbidden, request: $0) }
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            AuthenticationInterceptor(SessionAuthenticator(client: logins), credential: "old")
        }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.requests.map { $0.headers["X-Session"] } == ["old", "new"])
    }

    @Test func oneRunForManyCallers() async throws {
        @Sendable func fetchToken() async throws -> String { "token" }
        let refreshes = SingleFlight<Never, String>()
        let token = try await refreshes.run { try await fetchToken() }
        #expect(token == "token")
    }
}
