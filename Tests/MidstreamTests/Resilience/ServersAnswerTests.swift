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

    @Test("is a page after the first, which would pass for the last")
    func laterPage() async throws {
        let stub = StubTransport(sequence: [.respond(.ok, body: .text("[1]")), .respond(.serviceUnavailable)])
        var pages = client(stub).get("list").pages(.number()).makeAsyncIterator()
        #expect(try await pages.next()?.body.text == "[1]")
        #expect(await httpError { try await pages.next() }?.response?.status == .serviceUnavailable)
    }

    @Test("isn't the first page")
    func firstPage() async throws {
        var pages = client(StubTransport(status: .serviceUnavailable)).get("list").pages(.number()).makeAsyncIterator()
        #expect(try await pages.next()?.isFallback == true)
        #expect(try await pages.next() == nil)
    }
}
