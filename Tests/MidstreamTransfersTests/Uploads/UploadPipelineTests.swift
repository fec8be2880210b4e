import Foundation
import Midstream
import MidstreamSigning
import TestSupport
import Testing

@Suite("Uploads through a client that does more", .leavesNothing, .timeLimit(.minutes(10)))
struct UploadPipelineTests {
    @Test("What is only read for its digest isn't taken for sent, and so can be sent again")
    func digest() async throws {
        // More than sockets take in.
        let content = FileServer.blocks(256)
        let folder = try TemporaryFolder()
        try Data(content).write(to: folder.target)
        let server = try UploadServer(.init(cuts: [100_000], sends104: false))
        let client = testClient(configuration: .init(random: { 0 })) { SendDigest() }
        try await client.upload(.file(folder.target), to: server.url)
        #expect(server.requests.map(\.method) == ["POST", "POST"])
        #expect(server.requests.allSatisfy { $0.fields["content-digest"] != nil })
        #expect(server.content == content)
    }

    @Test("Retries don't send again what the server has")
    func retries() async throws {
        let content = FileServer.content(300_000)
        let server = try UploadServer(.init(cuts: [100_000]))
        let client = testClient(configuration: .init(maxRetries: 3, random: { 0 }))
        try await client.upload(.bytes(content), to: server.url, headers: ["Idempotency-Key": "1"])
        #expect(server.requests.map(\.method) == ["POST", "HEAD", "PATCH"])
        #expect(server.content == content)
    }
}
