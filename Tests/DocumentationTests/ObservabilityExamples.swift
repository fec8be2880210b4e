import Midstream
import MidstreamTelemetry
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

    @Test("As a curl command")
    func curl() async throws {
        let transport = StubTransport(status: .ok)
        let lines = Recorder()
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            ClosureRequestInterceptor("curl", stage: .exchange) { lines.write($0.curlCommand()) }
        }
        let response = try await client.get("users/42").response()
        #expect(lines.events == ["curl --header 'User-Agent: Midstream' https://api.example.com/users/42"])
        #expect(response.request.curlCommand() == lines.events.first)
    }

    @Test("What went on the wire")
    func callLog() async throws {
        let transport = StubTransport(sequence: [
            .respond(.serviceUnavailable), .respond(.ok, headers: ["Set-Cookie": "a=b"]),
        ])
        let lines = Recorder()
        let log = CallLog(.heads) { line in lines.write(line) }
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: .init(maxRetries: 1, observers: [log]), transport: transport)
        _ = try await client.get("users/42").data()
        try page.expectBlock(
            printing: lines.events.map {
                $0.replacing(/[0-9.]+ ms/, with: "0.0 ms").replacing(/[0-9a-f]{32}/, with: "ID")
            }.joined(separator: "\n"))
    }

    @Test("Names of your own")
    func redaction() {
        let redaction = Redaction(headers: ["X-Session"], queryItems: ["session"], jsonFields: ["iban"])
        let log = CallLog(.bodies(upTo: 4_096), as: .json, redaction: redaction)
        #expect(log.keepsBodies == 4_096)
    }

    @Test("An observer of your own")
    func observer() async throws {
        struct SlowExchanges: CallObserver {
            let limit: Duration
            let report: @Sendable (String) -> Void

            func endedExchange(_ exchange: ExchangeRecord) {
                if exchange.duration > limit { report("\(exchange), \(exchange.cause)") }
            }
        }
        let lines = Recorder()
        let observer = BufferedObserver(SlowExchanges(limit: .zero) { lines.write($0) })
        let client = HTTPClient(configuration: .init(observers: [observer]), transport: StubTransport(status: .ok))
        _ = try await client.send(HTTPRequest("https://api.example.com/"))
        await observer.flush()
        #expect(lines.events.count == 1)
    }

    @Test("A server continues a trace")
    func traceParent() async throws {
        let transport = StubTransport(status: .ok)
        let incoming: HTTPHeaders = [
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=1",
        ]
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) { .traceparent }

        // A server continues the trace of the request that it serves, if it is part of one.
        let parent = TraceParent(incoming["traceparent"], state: incoming["tracestate"])
        try await TraceParent.$current.withValue(parent) {
            _ = try await client.get("users/42").data()
        }
        let sent = try #require(transport.requests.first)
        #expect(TraceParent(sent.headers["traceparent"])?.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(sent.headers["tracestate"] == "a=1")
    }
}
