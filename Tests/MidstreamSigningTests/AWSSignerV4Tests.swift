import Foundation
import MidstreamCore
import MidstreamSigning
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct AWSSignerV4Tests {
    @Test func signsAsBotocoreDid() async throws {
        #expect(SigningVector.committed.count == 400)
        for vector in SigningVector.committed {
            var request = vector.request
            try await vector.signer.sign(&request)
            #expect(vector.disagreement(with: request) == nil)
        }
    }

    private func signer(
        token: String? = nil, service: String = "s3", _ placement: AWSSignerV4.Placement = .headers,
        payload: AWSSignerV4.Payload = .signed
    ) -> AWSSignerV4 {
        AWSSignerV4(
            AWSCredentials(accessKeyID: "AKID", secretAccessKey: "secret", sessionToken: token), region: "r", service: service,
            placement: placement, payload: payload, now: { Date(timeIntervalSince1970: 1_700_000_000) })
    }

    /// As a request that was signed by others is signed anew.
    @Test(arguments: [AWSSignerV4.Placement.headers, .query(expires: .seconds(60))], ["s3", "execute-api"])
    func nothingOfAnEarlierSignatureIsLeft(placement: AWSSignerV4.Placement, service: String) async throws {
        for earlier in [AWSSignerV4.Placement.headers, .query(expires: .seconds(9))] {
            var fresh = HTTPRequest(.put, "https://h/a?b=1", headers: ["X-Amz-Meta-A": "1"], body: .text("x"))
            var request = fresh
            try await signer(token: "OLD", service: service, earlier).sign(&request)
            try await signer(service: service, placement).sign(&request)
            try await signer(service: service, placement).sign(&fresh)
            #expect(request.urlText == fresh.urlText && !request.urlText.contains("OLD"))
            #expect(request.headers.map { "\($0)" }.sorted() == fresh.headers.map { "\($0)" }.sorted())
        }
        var other = HTTPRequest("https://h/", headers: [.authorization: "Bearer x", "X-Amz-Security-Token": "OLD"])
        try await signer(token: "NEW", service: service, placement).sign(&other)
        let isInHeaders = placement == .headers
        #expect(other.headers[.authorization]?.hasPrefix("AWS4-") == (isInHeaders ? true : nil))
        #expect(other.headers["X-Amz-Security-Token"] == (isInHeaders ? "NEW" : nil))
    }

    /// Google's storage, and proxies that compress, change it on the way.
    @Test(arguments: [AWSSignerV4.Placement.headers, .query(expires: .seconds(60))])
    func acceptEncodingIsSentUnsigned(placement: AWSSignerV4.Placement) async throws {
        var plain = HTTPRequest("https://storage.googleapis.com/bucket/a")
        var asking = plain
        asking.headers[.acceptEncoding] = "identity"
        try await signer(placement).sign(&plain)
        try await signer(placement).sign(&asking)
        #expect(asking.headers[.authorization] == plain.headers[.authorization] && asking.urlText == plain.urlText)
        #expect(asking.headers[.acceptEncoding] == "identity")
    }

    @Test func everyBodyThatCanBeReadTwiceIsHashed() async throws {
        let file = temporaryPath("signed-\(UUID().uuidString)")
        try Data("0123456789".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        func hash(_ body: HTTPBody, _ payload: AWSSignerV4.Payload = .signed) async throws -> String? {
            var request = HTTPRequest(.put, "https://b.s3.amazonaws.com/a", body: body)
            try await signer(payload: payload).sign(&request)
            return request.headers["X-Amz-Content-SHA256"]
        }
        let expected = try await hash(.text("234"))
        let stream = HTTPBody.stream { chunks("2", "34") }
        for payload in [AWSSignerV4.Payload.signed, .unsignedStreams] {
            for body in [.file(file, range: 2..<5), stream, .text("234")] { #expect(try await hash(body, payload) == expected) }
        }
        #expect(try await hash(.once(chunks("234")), .unsignedStreams) == "UNSIGNED-PAYLOAD")
        #expect(await httpError { try await hash(.once(chunks("234"))) }?.code == .unsupported)
        #expect(await httpError { try await hash(.file(file, range: 2..<50)) }?.code == .bodyUnreadable)
    }

    @Test(.enabled("no Python with botocore: set MIDSTREAM_BOTOCORE_PYTHON to one that has it") { await Botocore.python != nil })
    func signsAsBotocoreDoesOnFreshRequests() async throws {
        let python = try #require(await Botocore.python)
        let seed = Int.random(in: 0..<1 << 32)
        let vectors = try JSONDecoder().decode(
            [SigningVector].self, from: await Botocore.run(python, [Botocore.script, "\(seed)", "500"]))
        #expect(vectors.count == 500)
        for vector in vectors {
            var request = vector.request
            try await vector.signer.sign(&request)
            #expect(vector.disagreement(with: request) == nil, "seed \(seed)")
        }
    }
}

/// The reference implementation, where it is installed.
enum Botocore {
    static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("generate-vectors.py")
        .path

    /// A Python that can import botocore.
    static var python: String? { get async { await search.value } }

    private static let search = Task<String?, Never> {
        let given = ProcessInfo.processInfo.environment["MIDSTREAM_BOTOCORE_PYTHON"]
        for candidate in [given, "/usr/bin/python3"].compactMap({ $0 }) {
            if let printed = try? await run(candidate, ["-c", "import botocore; print(1)"]), !printed.isEmpty {
                return candidate
            }
        }
        return nil
    }

    static func run(_ program: String, _ arguments: [String]) async throws -> Data {
        let child = try await ChildProcess.run(program, arguments)
        return child.status == .exited(0) ? Data(child.output) : Data()
    }
}
