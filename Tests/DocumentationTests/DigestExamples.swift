import Foundation
import Midstream
import MidstreamSigning
import MidstreamTesting
import Testing

@Suite("Digests.md", .timeLimit(.minutes(10)))
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
        let published = "d0607f7ad2628b2af9158dfba06ce87166e66b15bf68f8f358f9aa27ccb7c321"
        try await check(client, file, published, try await HTTPBody.text("film").digest(.sha256))
        try await ask(file)
        let wrong = [UInt8](repeating: 1, count: 32)
        await #expect(throws: HTTPError.self) { try await check(client, file, published, wrong) }
        let streamed = client.get("film").streamed().checksum(.sha256(wrong))
        await #expect(throws: HTTPError.self) { try await streamed.collectData().result() }
    }

    private func check(_ client: HTTPClient, _ file: URL, _ published: String, _ digest: [UInt8]) async throws {
        try await client.get("film").download(to: file, options: .init(digest: .sha256(hex: published)))
        let film = try await client.get("film").checksum(.sha256(digest)).data()
        #expect(film == Data("film".utf8))
    }

    private func ask(_ file: URL) async throws {
        let digest = try await HTTPBody.file(file).digest(.sha256)
        #expect(digest.count == 32)
    }
}
