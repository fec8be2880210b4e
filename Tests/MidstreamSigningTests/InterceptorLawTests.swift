import Midstream
import MidstreamSigning
import MidstreamTesting
import Testing

/// The package's own interceptors keep to the laws that others are checked by.
@Suite("Our interceptors keep to the laws", .timeLimit(.minutes(1))) struct InterceptorLawTests {
    @Test func closuresAndChains() async throws {
        let mark = ClosureRequestInterceptor { $0.headers["X-Mark"] = "1" }
        let look = ClosureResponseInterceptor { $0.headers["X-Seen"] = "1" }
        let pass = ClosureHTTPInterceptor { request, next in try await next(request) }
        try await assertInterceptorLaws { mark }
        try await assertInterceptorLaws { look }
        try await assertInterceptorLaws { pass.at(.exchange) }
        try await assertInterceptorLaws { mark.chain(before: mark) }
        try await assertInterceptorLaws { look.chain(after: look) }
        try await assertInterceptorLaws { ChainedHTTPInterceptor.chain(inOrder: [mark, pass, look]) }
    }

    @Test func authentication() async throws {
        try await assertInterceptorLaws { AuthenticationInterceptor(BearerAuthenticator { _ in "token" }) }
        try await assertInterceptorLaws { AuthenticationInterceptor(BasicAuthenticator(user: "ann", password: "secret")) }
        try await assertInterceptorLaws { APIKeyInterceptor("key", in: .header("X-API-Key")) }
    }

    @Test func cookies() async throws {
        try await assertInterceptorLaws { CookieInterceptor() }
        let cookie = try Cookie("sid", "1", domain: "laws.test")
        try await assertInterceptorLaws { CookieInterceptor(CookieJar([cookie])) }
    }

    @Test func signing() async throws {
        try await assertInterceptorLaws { DigestInterceptor(user: "ann", password: "secret") }
        let credentials = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "secret")
        let signer = AWSSignerV4(credentials, region: "eu-central-1", service: "execute-api")
        // A signer has to know the bytes that it signs, so a streamed request isn't for it.
        let laws = Set(InterceptorLaw.allCases).subtracting([.preservesBodies])
        try await assertInterceptorLaws(laws, request: HTTPRequest("https://laws.test/")) { SigningInterceptor(signer) }
    }
}
