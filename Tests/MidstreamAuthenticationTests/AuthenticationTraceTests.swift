import Foundation
import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// What traces, explanations and descriptions say, and what they keep to themselves.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct AuthenticationTraceTests {
    @Test func theTraceTellsOfRefreshAndResend() async throws {
        let client = testClient(baseURL: "https://a.example", transport: StubTransport.accepting("token 1")) {
            AuthenticationInterceptor(TestAuthenticator(), credential: "s3cret")
        }
        let trace = try await client.send(HTTPRequest("/")).trace
        #expect(trace.allSpans.flatMap(\.notes) == ["rejected with 401; refreshed the credential and sent again"])
        #expect(!"\(trace)".contains("s3cret") && !"\(trace)".contains("token 1"))
        let obtained = testClient(baseURL: "https://a.example", transport: StubTransport(status: .ok)) {
            AuthenticationInterceptor(TestAuthenticator())
        }
        #expect(try await obtained.send(HTTPRequest("/")).trace.allSpans.flatMap(\.notes) == ["obtained a credential"])
    }

    private func plan(in explanation: Explanation?) -> String? {
        explanation?.steps.first { $0.name.hasPrefix("Authentication") }?.plan.text
    }

    @Test func anExplanationRefreshesNothing() async throws {
        let authenticator = TestAuthenticator()
        let interceptor = AuthenticationInterceptor(authenticator)
        let client = testClient(baseURL: "https://a.example", transport: StubTransport(status: .ok)) { interceptor }
        func note(_ url: String = "/") async throws -> String? { plan(in: try await client.explain(HTTPRequest(url))) }
        #expect(try await note() == "would obtain a credential first")
        interceptor.credential = "old"
        #expect(try await note() == "refreshes its credential once if it is rejected")
        #expect(try await client.explain(HTTPRequest("/")).request.headers[.authorization] == "old")
        authenticator.expire("old")
        #expect(try await note() == "would refresh its credential first")
        #expect(try await note("https://b.example/") == "no credential for this origin")
        #expect(authenticator.refreshes == 0)
    }

    @Test func anExplanationShowsNoCredentialThatIsBeingRefreshed() async throws {
        let refreshing = Gate()
        let box = Locked<HTTPClient?>(nil)
        defer { box.withLock { $0 = nil } }
        let within = Locked<Explanation?>(nil)
        let authenticator = TestAuthenticator { _ in
            let client = try #require(box.withLock { $0 })
            let explanation = try await client.explain(HTTPRequest("/"))
            within.withLock { $0 = explanation }
            await refreshing.wait()
        }
        let client = testClient(baseURL: "https://a.example", transport: StubTransport.accepting("token 1")) {
            AuthenticationInterceptor(authenticator, credential: "old")
        }
        box.withLock { $0 = client }
        let call = Task { try await client.send(HTTPRequest("/")).status }
        await refreshing.reached()
        let outside = try await client.explain(HTTPRequest("/"))
        refreshing.open()
        #expect(try await call.value == .ok)
        #expect(plan(in: outside) == "would refresh its credential first")
        #expect(outside.request.headers[.authorization] == nil)
        let inside = within.withLock { $0 }
        #expect(plan(in: inside) == "no credential for a refresh")
        #expect(inside?.request.headers[.authorization] == nil)
    }

    @Test func noCredentialIsShown() async throws {
        let authenticator = TestAuthenticator()
        authenticator.fail(with: SecretiveError(text: "s3cret"))
        let interceptor = AuthenticationInterceptor(authenticator, credential: "s3cret")
        let client = testClient(baseURL: "https://a.example", transport: StubTransport(status: .unauthorized)) { interceptor }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        var shown = "\(interceptor)\(String(reflecting: error))\(error?.localizedDescription ?? "")\(try #require(error?.trace))"
        dump(interceptor, to: &shown)
        dump(error, to: &shown)
        dump(BasicAuthenticator(user: "u", password: "s3cret"), to: &shown)
        dump(try await BasicAuthenticator(user: "s3cret", password: "s3cret").refresh(nil), to: &shown)
        dump(OAuthToken(accessToken: "s3cret", refreshToken: "s3cret"), to: &shown)
        dump(OAuthTokenEndpoint(url: "https://h", client: "app", secret: "s3cret") { _ in throw CancellationError() }, to: &shown)
        dump(InMemoryTokenStore(OAuthToken(accessToken: "s3cret")), to: &shown)
        #expect(!shown.contains("s3cret"))
        #expect(!shown.contains("czNjcmV0"))
    }

    private struct SecretiveError: Error { let text: String }

    @Test func aFixedCredentialIsExplained() async throws {
        let interceptors: [any HTTPInterceptor] = [
            AuthenticationInterceptor(BearerAuthenticator(token: "s3cret")),
            AuthenticationInterceptor(BasicAuthenticator(user: "ann", password: "s3cret")),
        ]
        for interceptor in interceptors {
            let client = testClient(baseURL: "https://api.test", transport: StubTransport(status: .ok)) { interceptor }
            let explanation = try await client.explain(HTTPRequest("x"))
            #expect(explanation.request.headers.contains(.authorization))
            #expect("\(explanation)".contains("+ Authorization: \(String.withheld)") && !"\(explanation)".contains("s3cret"))
        }
    }
}
