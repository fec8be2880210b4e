import Midstream
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

/// The signing interceptors keep to the laws that others are checked by.
@Suite("Signing interceptors keep to the laws", .leavesNothing, .timeLimit(.minutes(10))) struct SigningLawTests {
    private let credentials = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "secret")
    private let request = HTTPRequest("https://laws.test/")

    @Test func digest() async throws {
        try await assertInterceptorLaws { DigestInterceptor(user: "ann", password: "secret") }
    }

    /// A signature over the body needs its bytes, so there is nothing to be streamed.
    @Test func signedBodies() async throws {
        let signer = AWSSignerV4(credentials, region: "eu-central-1", service: "execute-api")
        let request = HTTPRequest(.put, "https://laws.test/", body: .bytes((0...255).map { UInt8($0) }))
        try await assertInterceptorLaws(request: request) { SigningInterceptor(signer) }
    }

    @Test(arguments: [AWSSignerV4.Payload.unsigned, .unsignedStreams]) func unsignedBodies(_ payload: AWSSignerV4.Payload)
        async throws
    {
        let signer = AWSSignerV4(credentials, region: "eu-central-1", service: "s3", payload: payload)
        try await assertInterceptorLaws(request: request) { SigningInterceptor(signer) }
    }

    @Test func presignedURLs() async throws {
        let signer = AWSSignerV4(
            credentials, region: "eu-central-1", service: "s3", placement: .query(expires: .seconds(60)), payload: .unsigned)
        try await assertInterceptorLaws(request: request) { SigningInterceptor(signer) }
    }

    @Test func digestsOfBodies() async throws {
        for acceptsEncodings in [true, false] {
            try await assertInterceptorLaws { VerifyDigest(acceptsEncodings: acceptsEncodings) }
        }
        try await assertInterceptorLaws { SendDigest() }
        try await assertInterceptorLaws(request: HTTPRequest(.put, "https://laws.test/", body: .text("a"))) { SendDigest() }
    }
}
