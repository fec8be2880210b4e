import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("Uploads under conditions", .leavesNothing, .timeLimit(.minutes(10)))
struct UploadConditionTests {
    @Test("They, and digests, are about the request's own resource, not about the upload's")
    func conditions() async throws {
        let stub = StubTransport(sequence: [
            .respond(201, headers: ["Location": "/1", "Upload-Offset": "0", "Upload-Complete": "?0"]), .respond(.conflict),
            .respond(.noContent, headers: ["Upload-Offset": "0", "Upload-Complete": "?0"]),
            .respond(.ok, headers: ["Upload-Complete": "?1"]),
        ])
        let headers: HTTPHeaders = [
            "If-None-Match": "*", "if-match": "\"1\"", "Range": "bytes=0-", "Content-Digest": "sha-256=:AA==:",
            "Repr-Digest": "sha-256=:AA==:", "X-Kept": "1",
        ]
        try await testClient(transport: stub).upload(.bytes([1]), by: HTTPRequest(.put, "http://a.test/file", headers: headers))
        let sent = stub.requests
        #expect(sent.map(\.method.rawValue) == ["PUT", "PATCH", "HEAD", "PATCH"])
        for name: HTTPHeaders.Name in ["If-None-Match", "If-Match", "Range", "Content-Digest", "Repr-Digest"] {
            #expect(sent.map { $0.headers.contains(name) } == [true, false, false, false])
        }
        #expect(sent.allSatisfy { $0.headers["X-Kept"] == "1" })
    }

    @Test("The digest of a whole content isn't sent with its first part")
    func partialContent() async throws {
        let stub = StubTransport(sequence: [
            .respond(201, headers: ["Location": "/1", "Upload-Offset": "1", "Upload-Complete": "?0"]),
            .respond(.ok, headers: ["Upload-Complete": "?1"]),
        ])
        let digests: HTTPHeaders = ["Content-Digest": "sha-256=:AA==:", "Repr-Digest": "sha-256=:AA==:"]
        try await testClient(transport: stub).upload(.bytes([1, 2]), to: "http://a.test/file", headers: digests, partSize: 1)
        #expect(stub.requests.map { $0.headers.contains("Content-Digest") } == [false, false])
        #expect(stub.requests.map { $0.headers.contains("Repr-Digest") } == [true, false])
    }
}
