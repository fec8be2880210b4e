import Foundation
import Interception
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCore

/// The core's own interceptors keep to the laws that others are checked by.
@Suite("The core's interceptors keep to the laws", .timeLimit(.minutes(1)))
struct CoreLawTests {
    private let mark = ClosureRequestInterceptor { $0.headers["X-Mark"] = "1" }
    private let look = ClosureResponseInterceptor { $0.headers["X-Seen"] = "1" }
    private let pass = ClosureHTTPInterceptor { request, next in try await next(request) }

    @Test func closures() async throws {
        try await assertInterceptorLaws { mark }
        try await assertInterceptorLaws { look }
        try await assertInterceptorLaws { pass }
    }

    @Test func otherStages() async throws {
        for stage in Stage.allCases {
            try await assertInterceptorLaws { StagedInterceptor(base: pass, stage: stage) }
        }
    }

    @Test func chains() async throws {
        try await assertInterceptorLaws { ChainedRequestInterceptor.chain(inOrder: [mark, mark]) }
        try await assertInterceptorLaws { ChainedResponseInterceptor.chain(inOrder: [look, look]) }
        try await assertInterceptorLaws { ChainedHTTPInterceptor.chain(inOrder: [mark, pass, look]) }
        // A pipeline takes the chain apart; here it runs as the one interceptor that it is.
        let chain = ChainedHTTPInterceptor.chain(inOrder: [mark, pass, look])
        try await assertInterceptorLaws { ClosureHTTPInterceptor { try await chain.intercept($0, next: $1) } }
    }

    private struct Hooks: LifecycleInterceptor {
        let steps = Steps()

        func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest {
            var request = request
            request.headers["X-Hook"] = "1"
            return request
        }
        func modifyResponse(_ response: HTTPResponse) async throws -> HTTPResponse {
            var response = response
            response.headers["X-Hook"] = "1"
            return response
        }
        func willSend(_ request: HTTPRequest) async { steps.note("sends") }
        func didReceiveSuccess(_ response: HTTPResponse) async throws {
            if response.status.isServerError { throw Failure() }
        }
        func didReceiveFailure(_ error: any Error, for request: HTTPRequest) async { steps.note("failed") }
    }

    private struct Bare: LifecycleInterceptor {}

    @Test func lifecycleHooks() async throws {
        try await assertInterceptorLaws { Bare() }
        try await assertInterceptorLaws { Hooks() }
    }

    /// One in callback style, which is one of HTTP besides.
    private struct Callback: CompletionInterceptor, HTTPInterceptor {
        func intercept(
            _ input: HTTPRequest, next: CompletionNext<HTTPRequest, HTTPResponse>,
            completion: @escaping @Sendable (Result<HTTPResponse, any Error>) -> Void
        ) {
            next(input) { completion($0) }
        }
    }

    @Test func completionHandlers() async throws {
        try await assertInterceptorLaws { Callback() }
    }

    @Test func builtIn() async throws {
        let usual = HTTPClient.Configuration()
        var withoutValidators = usual
        withoutValidators.validators = []
        for configuration in [usual, withoutValidators] {
            try await assertInterceptorLaws { Arbiter(configuration) }
        }
        try await assertInterceptorLaws { Redirects(policy: .follow(limit: 10)) }
        try await assertInterceptorLaws { Redirects(policy: .refuse) }
    }

    @Test func credentialRemoval() async throws {
        try await assertInterceptorLaws { CredentialRemoval(of: HTTPClient.Configuration()) }
    }

    @Test func apiKeys() async throws {
        try await assertInterceptorLaws { APIKeyInterceptor("key", in: .header("X-API-Key")) }
        try await assertInterceptorLaws { APIKeyInterceptor("key", in: .query("key")) }
        try await assertInterceptorLaws { APIKeyInterceptor("key", in: .query("key"), origins: ["https://elsewhere.test"]) }
    }

    @Test func authentication() async throws {
        try await assertInterceptorLaws { AuthenticationInterceptor(BearerAuthenticator { _ in "token" }) }
        try await assertInterceptorLaws { AuthenticationInterceptor(BasicAuthenticator(user: "ann", password: "secret")) }
    }

    @Test(arguments: [OAuthAuthenticator.Grant.clientCredentials(scope: "read"), .refreshToken()])
    func oauth(_ grant: OAuthAuthenticator.Grant) async throws {
        let endpoint = OAuthTokenEndpoint(url: "https://login.test/token", client: OAuthClient(id: "app", secret: "secret")) {
            HTTPResponse(
                status: .ok, body: .bytes(Array(#"{"access_token":"a","token_type":"Bearer","refresh_token":"r"}"#.utf8)),
                request: $0)
        }
        let store = InMemoryTokenStore(OAuthToken(accessToken: "old", refreshToken: "r", expires: .distantPast))
        try await assertInterceptorLaws {
            AuthenticationInterceptor(OAuthAuthenticator(grant, from: endpoint, store: store))
        }
    }

    @Test func cookies() async throws {
        try await assertInterceptorLaws { CookieInterceptor() }
        let cookie = try Cookie("sid", "1", domain: "laws.test")
        try await assertInterceptorLaws { CookieInterceptor(CookieJar([cookie])) }
    }
}
