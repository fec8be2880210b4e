import Midstream
import MidstreamTesting
import Tracing

func tracing() async throws {
    let stub = StubTransport(sequence: [.respond(307, headers: ["Location": "/users/43"]), .respond(503), .respond(200)])
    var configuration = HTTPClient.Configuration()
    configuration.maxRetries = 1
    configuration.redaction = Redaction(queryItems: ["seat"])
    configuration.validators = [DefaultValidator(retriableStatus: [503: .immediate])]
    let client = HTTPClient(baseURL: "https://api.example.com", configuration: configuration, transport: stub) {
        TracingInterceptor(redaction: configuration.redaction)
    }
    _ = try? await ServiceContext.$current.withValue(ServiceContext(id: "caller")) {
        try await client.get("users/\(42)").query("token", "secret").query("seat", "secret").data()
    }
    let spans = KeptSpan.take()
    expect(spans.count == stub.requests.count && spans.count >= 2, "\(spans.map(\.name))")
    expect(spans[0].name == "GET users/{}" && spans[0].kind == .client && spans[0].parent == "caller", spans[0].name)
    expect(spans.allSatisfy { $0.ends == 1 && $0.text("server.address") == "api.example.com" })
    expect(!spans[0].isError && spans[1].isError && spans[1].text("error.type") == "503")
    expect(!(spans[0].text("url.full") ?? "secret").contains("secret"))
    expect(zip(spans, stub.requests).allSatisfy { $1.headers["traceparent"] == "span-\($0.context.id)" })

    let hanging = HTTPClient(baseURL: "https://api.example.com", transport: StubTransport { _ in throw CancellationError() }) {
        TracingInterceptor()
    }
    _ = try? await hanging.send(HTTPRequest("/"))
    let cancelled = KeptSpan.take()
    expect(cancelled.count == 1 && !cancelled[0].isError && cancelled[0].ends == 1)
}
