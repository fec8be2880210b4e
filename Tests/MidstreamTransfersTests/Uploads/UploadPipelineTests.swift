import Midstream
import TestSupport
import Testing

@Suite("Uploads through a client that does more", .leavesNothing, .timeLimit(.minutes(10)))
struct UploadPipelineTests {
    @Test("Retries don't send again what the server has")
    func retries() async throws {
        let content = FileServer.content(300_000)
        let server = try UploadServer(.init(cuts: [100_000]))
        var configuration = HTTPClient.Configuration()
        configuration.random = { 0 }
        configuration.maxRetries = 3
        let client = testClient(configuration: configuration)
        try await client.upload(.bytes(content), to: server.url, headers: ["Idempotency-Key": "1"])
        #expect(server.requests.map(\.method) == ["POST", "HEAD", "PATCH"])
        #expect(server.content == content)
    }
}
