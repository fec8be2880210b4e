import Midstream
import MidstreamTesting
import Testing

@Suite("Observability.md")
struct ObservabilityExamples {
    private let page = MarkdownPage(path: "Documentation/Observability.md")

    @Test("A line for each call")
    func logging() async throws {
        let transport = StubTransport(sequence: [.respond(.ok), .respond(.notFound)])
        let lines = Recorder()
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            .logging { line in lines.write(line) }
        }
        _ = try await client.get("users/42").data()
        _ = try? await client.get("users/43").data()
        try page.expectBlock(
            printing: lines.events.map { $0.replacing(/[0-9.]+ ms/, with: "0.0 ms") }.joined(separator: "\n"))
    }

    @Test("A server continues a trace")
    func traceParent() async throws {
        let transport = StubTransport(status: .ok)
        let incoming: HTTPHeaders = [
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=1",
        ]
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) { .traceparent }

        // A server continues the trace of the request that it serves.
        let parent = TraceParent(incoming["traceparent"], state: incoming["tracestate"]) ?? TraceParent()
        try await TraceParent.$current.withValue(parent) {
            _ = try await client.get("users/42").data()
        }
        let sent = try #require(transport.requests.first)
        #expect(TraceParent(sent.headers["traceparent"])?.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(sent.headers["tracestate"] == "a=1")
    }
}
