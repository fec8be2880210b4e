import Foundation
import Midstream
import MidstreamSigning
import MidstreamTesting
import Testing

@Suite("Digests.md", .timeLimit(.minutes(1)))
struct DigestExamples {
    private let stub: StubTransport

    init() throws {
        let field = DigestAlgorithm.sha256.field([UInt8](repeating: 0, count: 32))
        stub = StubTransport(status: .ok, headers: ["Repr-Digest": field], body: .text("film"))
    }

    @Test("What arrives")
    func arriving() async throws {
        let client = HTTPClient(baseURL: "https://files.example.com", transport: stub) {
            VerifyDigest()
        }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("film")) }
        #expect(error?.code == .digestMismatch)
    }

    @Test("What leaves")
    func leaving() async throws {
        let client = HTTPClient(baseURL: "https://files.example.com", transport: stub) {
            SendDigest()
        }
        _ = try await client.send(HTTPRequest(.put, "film", body: .text("film")))
        #expect(stub.requests.first?.headers["Content-Digest"]?.hasPrefix("sha-256=:") == true)
    }

    @Test("What is known")
    func known() async throws {
        let client = HTTPClient(baseURL: "https://files.example.com", transport: stub)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("digest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try await check(client, file, try await HTTPBody.text("film").digest(.sha256))
        try await ask(file)
        let wrong = [UInt8](repeating: 1, count: 32)
        await #expect(throws: HTTPError.self) { try await check(client, file, wrong) }
        let streamed = client.get("film").streamed().modifier(Modifiers.Checksum(.sha256, expected: wrong))
        await #expect(throws: HTTPError.self) { try await streamed.collectData().result() }
    }

    private func check(_ client: HTTPClient, _ file: URL, _ digest: [UInt8]) async throws {
        let film = try await client.get("film").modifier(Modifiers.Checksum(.sha256, expected: digest)).data()
        try await client.get("film").download(to: file, options: .init(digest: .sha256(digest)))
        #expect(film == Data("film".utf8))
    }

    private func ask(_ file: URL) async throws {
        let digest = try await HTTPBody.file(file).digest(.sha256)
        #expect(digest.count == 32)
    }
}
