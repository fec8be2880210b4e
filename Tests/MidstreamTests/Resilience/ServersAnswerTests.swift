import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("What no fallback answers", .leavesNothing, .timeLimit(.minutes(10)))
struct ServersAnswerTests {
    /// Answers whatever fails with an empty list.
    private func client(_ stub: StubTransport) -> HTTPClient {
        testClient(baseURL: "https://h", transport: stub) {
            Fallback { request, _ in HTTPResponse(status: .ok, body: .text("[]"), request: request) }
        }
    }

    @Test("is an upload, which would pass for a success")
    func upload() async throws {
        let stub = StubTransport(status: .serviceUnavailable)
        let error = await httpError { try await client(stub).upload(.bytes(Array("film".utf8)), to: "uploads", resumes: 0) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .serviceUnavailable)
        #expect(stub.requests.count == 1)
    }
}
