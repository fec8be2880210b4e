import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("What midst -v prints", .leavesNothing)
struct WireLogTests {
    private let lines = Locked<[String]>([])

    @Test("is each exchange, the secrets of URLs and fields withheld, and no body")
    func secrets() async throws {
        let secret = "S3CR3T"
        let stub = StubTransport(sequence: [
            .respond(.found, headers: ["Location": "https://h/next?code=\(secret)", "Set-Cookie": "sid=\(secret)"]),
            .respond(.ok, headers: ["X-Shown": "shown"], body: .text(secret)),
        ])
        let client = testClient(transport: stub) { [lines] in
            WireLog(print: { line in lines.withLock { $0.append(line) } })
        }
        let request = HTTPRequest(
            .post, "https://u:\(secret)@h/?token=\(secret)", headers: ["Cookie": "a=\(secret)", "X-API-Key": secret],
            body: .form([("password", secret)]))
        _ = try await client.send(request)
        let printed = lines.withLock { $0.joined(separator: "\n") }
        #expect(!printed.contains(secret))
        #expect(printed.contains("> POST https://") && printed.contains("< 302 Found"), "\(printed)")
        #expect(printed.contains("X-Shown: shown") && printed.contains("X-API-Key: ‹withheld›"), "\(printed)")
        #expect(stub.requests.count == 2 && stub.requests[0].headers["X-API-Key"] == secret)
    }
}
