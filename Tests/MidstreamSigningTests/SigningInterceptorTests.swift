import Foundation
import Interception
import Midstream
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct SigningInterceptorTests {
    private static let credentials = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "s3cret", sessionToken: "t0ken")
    private static let date = Date(timeIntervalSince1970: 1_440_938_160)

    private func signer(
        service: String = "s3", payload: AWSSignerV4.Payload = .signed, placement: AWSSignerV4.Placement = .headers
    ) -> AWSSignerV4 {
        AWSSignerV4(
            Self.credentials, region: "us-east-1", service: service, placement: placement, payload: payload, now: { Self.date })
    }

    private func sent(
        _ request: HTTPRequest, by signer: AWSSignerV4, base: String = "https://a.example", answers: [StubTransport.Reply]? = nil
    ) async throws -> [HTTPRequest] {
        let stub = answers.map { StubTransport(sequence: $0) } ?? StubTransport(status: .ok)
        let client = testClient(baseURL: base, transport: stub) { SigningInterceptor(signer) }
        _ = try await client.send(request)
        return stub.requests
    }

    @Test func theGatewayOfIoTGetsTheSessionsTokenBehindTheSignature() async throws {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        func url(_ token: String?) async throws -> String {
            try await AWSSignerV4(region: "r", service: "iotdevicegateway", now: { date }) {
                AWSCredentials(accessKeyID: "a", secretAccessKey: "b", sessionToken: token)
            }.presignedURL(for: HTTPRequest("https://a.example/mqtt"), expires: .seconds(60))
        }
        #expect(try await url("t/1") == url(nil) + "&X-Amz-Security-Token=t%2F1")
    }

    @Test func theHashOfTheBodyIsSentWhereItIsAskedFor() async throws {
        for (service, isSent) in [("s3", true), ("aoss", true), ("s3express", true), ("glacier", true), ("execute-api", false)] {
            var request = HTTPRequest(.post, "https://a.example/", body: .text("x"))
            try await AWSSignerV4(region: "r", service: service) { AWSCredentials(accessKeyID: "a", secretAccessKey: "b") }
                .sign(&request)
            #expect(request.headers.contains("X-Amz-Content-SHA256") == isSent)
        }
    }

    /// The example of AWS's own documentation for IAM's ListUsers.
    @Test func signsAsInTheDocumentation() async throws {
        let signer = AWSSignerV4(
            AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1", service: "iam", now: { Self.date })
        var request = HTTPRequest(
            "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
            headers: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"])
        try await signer.sign(&request)
        #expect(
            request.headers[.authorization] == """
                AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
                SignedHeaders=content-type;host;x-amz-date, \
                Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7
                """)
    }

    @Test func eachExchangeIsSignedAnew() async throws {
        let requests = try await sent(
            HTTPRequest("/1"), by: signer(),
            answers: [
                .respond(.found, headers: [.location: "/2"]), .respond(.found, headers: [.location: "https://b.example/3"]),
                .respond(.ok),
            ])
        #expect(requests.map { $0.headers.values(.authorization).count } == [1, 1, 0])
        #expect(requests[0].headers[.authorization] != requests[1].headers[.authorization])
        #expect(requests.map { $0.headers.contains("X-Amz-Security-Token") } == [true, true, false])
    }

    @Test func theTraceSaysWhichHopWentUnsigned() async throws {
        let stub = StubTransport(sequence: [
            .respond(.temporaryRedirect, headers: [.location: "https://b.example/2"]), .respond(.forbidden),
        ])
        let client = testClient(transport: stub) { SigningInterceptor(signer(), origins: ["https://a.example"]) }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("https://a.example/1")) }
        let trace = "\(try #require(error?.trace))"
        #expect(stub.requests.map { $0.headers.contains(.authorization) } == [true, false])
        #expect(trace.components(separatedBy: "doesn't sign for this origin").count == 2)
    }

    @Test func aSignatureInTheQueryIsNotCopiedToAnotherOrigin() async throws {
        let presigned = "https://c.example/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=60&X-Amz-Signature=0123"
        let stub = StubTransport { request in
            guard request.urlText.hasPrefix("https://a.example/") else { return HTTPResponse(status: .ok, request: request) }
            let copy = request.urlText.replacingOccurrences(of: "https://a.example/", with: "https://b.example/")
            let location = request.urlText.contains("/moved") ? copy : presigned
            return HTTPResponse(status: .movedPermanently, headers: [.location: location], request: request)
        }
        let client = testClient(baseURL: "https://a.example", transport: stub) {
            SigningInterceptor(signer(placement: .query(expires: .seconds(60))))
        }
        for path in ["/moved?x=1+1", "/stored"] { _ = try await client.send(HTTPRequest(path)) }
        let urls = stub.requests.map(\.urlText)
        #expect(urls.filter { $0.contains("X-Amz-Security-Token=t0ken") }.count == 2)
        // One that somebody else has signed is what it was.
        #expect(urls.filter { !$0.hasPrefix("https://a.example/") } == ["https://b.example/moved?x=1%2B1", presigned])
    }

    @Test func aFileIsSignedLikeItsBytes() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let file = temporaryPath("signing-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let one = try await sent(HTTPRequest(.put, "/", body: .file(file)), by: signer())
        let other = try await sent(HTTPRequest(.put, "/", body: .bytes(bytes)), by: signer())
        #expect(one[0].headers[.authorization] == other[0].headers[.authorization])
        #expect(one[0].headers["X-Amz-Content-SHA256"] == other[0].headers["X-Amz-Content-SHA256"])
    }

    @Test func aStreamIsSignedOnlyWhereThatIsAllowedAndSafe() async throws {
        let stream = { HTTPRequest(.put, "/", body: .once(AsyncStream<[UInt8]> { $0.finish() })) }
        let allowed = try await sent(stream(), by: signer(payload: .unsignedStreams))
        #expect(allowed[0].headers["X-Amz-Content-SHA256"] == "UNSIGNED-PAYLOAD")
        for (payload, base) in [
            (AWSSignerV4.Payload.signed, "https://a.example"), (.unsignedStreams, "http://a.example"),
            (.unsigned, "http://a.example"),
        ] {
            let error = await #expect(throws: HTTPError.self) {
                try await sent(stream(), by: signer(payload: payload), base: base)
            }
            #expect(error?.code == .unsupported)
            #expect(error?.phase == .notSent)
        }
    }

    @Test func theQueryIsSentAsItIsSigned() async throws {
        let requests = try await sent(HTTPRequest("/?b=1+1/2&a&a=%7e%c3%a4"), by: signer())
        #expect(requests[0].urlText == "https://a.example/?b=1%2B1%2F2&a&a=~%C3%A4")
    }

    @Test(arguments: [Duration.zero, .milliseconds(500), .seconds(604_801)])
    func aValidityThatAWSWouldRefuseIsRefused(expires: Duration) async throws {
        let error = await #expect(throws: HTTPError.self) {
            try await signer().presignedURL(for: HTTPRequest("https://a.example/"), expires: expires)
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func signingAPresignedURLAgainReplacesTheSignature() async throws {
        let once = try await signer().presignedURL(for: HTTPRequest("https://a.example/k?x=1"), expires: .seconds(60))
        let twice = try await signer().presignedURL(for: HTTPRequest(once), expires: .seconds(60))
        #expect(once == twice)
        #expect(once.hasPrefix("https://a.example/k?x=1&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID%2F20150830"))
    }

    @Test(arguments: [
        ("https://a.example/my phötö.jpg", "https://a.example/my%20ph%C3%B6t%C3%B6.jpg"),
        ("https://bücher.example/100%", "https://xn--bcher-kva.example/100%25"),
    ])
    func aPresignedURLIsOneThatAnybodyCanUse(url: String, encoded: String) async throws {
        let presigned = try await signer().presignedURL(for: HTTPRequest(url), expires: .seconds(60))
        #expect(presigned.hasPrefix(encoded + "?X-Amz-Algorithm="))
        #expect(try await signer().presignedURL(for: HTTPRequest(encoded), expires: .seconds(60)) == presigned)
    }

    @Test func aRelativeURLIsRefused() async throws {
        let error = await #expect(throws: HTTPError.self) {
            try await signer().presignedURL(for: HTTPRequest("/k"), expires: .seconds(60))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func anErrorOfTheCredentialsSourceReachesTheCaller() async throws {
        struct NoCredentials: Error {}
        let signer = AWSSignerV4(region: "us-east-1", service: "s3") { throw NoCredentials() }
        await #expect(throws: NoCredentials.self) { try await sent(HTTPRequest("/"), by: signer) }
    }

    @Test(arguments: [AWSSignerV4.Placement.headers, .query(expires: .seconds(60))])
    func nothingSecretIsShown(placement: AWSSignerV4.Placement) async throws {
        let client = testClient(baseURL: "https://a.example", transport: StubTransport(status: .notFound)) {
            SigningInterceptor(signer(placement: placement))
        }
        let error = try #require(await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) })
        let signed = try #require(error.response?.request)
        var shown = "\(error)\(try #require(error.trace))\(String(reflecting: error.response))\(String(reflecting: signed))"
        shown += signed.curlCommand() + "\(try await client.explain(HTTPRequest("/")))"
        dump(SigningInterceptor(signer()), to: &shown)
        dump(Self.credentials, to: &shown)
        dump(error, to: &shown)
        #expect(!shown.contains("s3cret") && !shown.contains("t0ken"))
        let signature = try #require(
            (signed.headers[.authorization] ?? signed.urlText).components(separatedBy: "Signature=").last)
        #expect(signature.count == 64)
        #expect(!shown.contains(signature))
    }

    @Test func aServerGetsWhatWasSigned() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(MockServer.Response())
        let client = testClient(baseURL: server.url()) { SigningInterceptor(signer()) }
        _ = try await client.send(HTTPRequest(.put, "/a%20b?x=ä", body: .text("hello")))
        let received = try await server.takeRequest()
        // Signed once more as it was received, it has the same signature.
        var again = HTTPRequest(received.method, server.url(received.target), body: .bytes(received.body))
        again.headers[.host] = received.headers[.host]
        again.headers[.contentType] = received.headers[.contentType]
        try await signer().sign(&again)
        #expect(again.headers[.authorization] == received.headers[.authorization])
    }
}
