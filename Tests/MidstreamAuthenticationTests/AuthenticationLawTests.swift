import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamAuthentication

@Suite("The laws of interceptors hold for authentication", .leavesNothing, .timeLimit(.minutes(10)))
struct AuthenticationLawTests {
    @Test func apiKeys() async throws {
        try await assertInterceptorLaws { APIKeyInterceptor("key", header: "X-API-Key") }
        try await assertInterceptorLaws { APIKeyInterceptor("key", query: "key") }
        try await assertInterceptorLaws { APIKeyInterceptor("key", query: "key", origins: ["https://elsewhere.test"]) }
    }

    @Test func authentication() async throws {
        try await assertInterceptorLaws { AuthenticationInterceptor(BearerAuthenticator { _ in "token" }) }
        try await assertInterceptorLaws { AuthenticationInterceptor(BasicAuthenticator(user: "ann", password: "secret")) }
    }

    @Test(arguments: [OAuthAuthenticator.Grant.clientCredentials(scope: "read"), .refreshToken()])
    func oauth(_ grant: OAuthAuthenticator.Grant) async throws {
        let endpoint = OAuthTokenEndpoint(url: "https://login.test/token", client: "app", secret: "secret") {
            HTTPResponse(
                status: .ok, body: .bytes(Array(#"{"access_token":"a","token_type":"Bearer","refresh_token":"r"}"#.utf8)),
                request: $0)
        }
        let store = InMemoryTokenStore(OAuthToken(accessToken: "old", refreshToken: "r", expires: .distantPast))
        try await assertInterceptorLaws {
            AuthenticationInterceptor(OAuthAuthenticator(grant, from: endpoint, store: store))
        }
    }
}
