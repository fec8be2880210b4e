import Midstream
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

/// The samples of `Documentation/Signing.md`, compiled and run.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct SigningSamples {
    @Test func aClientThatSigns() async throws {
        let (id, secret, token) = ("AKID", "secret", "token")
        let stub = StubTransport(status: .ok)
        let credentials = AWSCredentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
        let client = HTTPClient(baseURL: "https://dynamodb.eu-central-1.amazonaws.com", transport: stub) {
            SigningInterceptor(AWSSignerV4(credentials, region: "eu-central-1", service: "dynamodb"))
        }
        _ = try await client.send(HTTPRequest(.post, "/", body: .text("{}")))
        #expect(stub.requests[0].headers[.authorization]?.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/") == true)
        #expect("\(try await client.explain(HTTPRequest("/")))".contains("would sign the request"))
        #expect("\(try await client.explain(HTTPRequest("https://b.example/")))".contains("doesn't sign for this origin"))
    }

    private struct Role {
        func credentials() async throws -> AWSCredentials { AWSCredentials(accessKeyID: "AKID", secretAccessKey: "secret") }
    }

    @Test func aPresignedURL() async throws {
        let (role, key) = (Role(), "photos/a #1.jpg")
        let signer = AWSSignerV4(region: "eu-central-1", service: "s3") { try await role.credentials() }
        let url = try await signer.presignedURL(
            for: HTTPRequest(.put, "https://bucket.s3.amazonaws.com/\(path: key)"), expires: .seconds(600))
        #expect(url.hasPrefix("https://bucket.s3.amazonaws.com/photos/a%20%231.jpg?"))
        #expect(url.contains("X-Amz-Expires=600&X-Amz-SignedHeaders=host&X-Amz-Signature="))
    }

    struct TimestampSigner: RequestSigner {
        func sign(_ request: inout HTTPRequest) async throws {
            request.headers["X-Signature"] = try await seal(request.method.rawValue + request.urlText)
            request.headers.markSensitive("X-Signature")
        }
    }

    @Test func digest() async throws {
        let password = "Circle of Life"
        let stub = StubTransport(status: .ok)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            DigestInterceptor(user: "Mufasa", password: password)
        }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.requests[0].headers[.authorization] == nil)
    }

    @Test func aSchemeOfOnesOwn() async throws {
        let stub = StubTransport(status: .ok)
        let client = HTTPClient(baseURL: "https://a.example", transport: stub) { SigningInterceptor(TimestampSigner()) }
        let trace = try await client.send(HTTPRequest("/")).trace
        #expect(stub.requests[0].headers["X-Signature"] == "sealed GEThttps://a.example/")
        #expect(!"\(trace)".contains("sealed"))
    }
}

private func seal(_ text: String) async throws -> String { "sealed \(text)" }
