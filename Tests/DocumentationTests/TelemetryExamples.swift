import Foundation
import Midstream
import MidstreamTelemetry
import MidstreamTesting
import Testing

@Suite("Telemetry.md")
struct TelemetryExamples {
    private let transport = StubTransport(status: .ok)

    @Test("Send")
    func send() async throws {
        let telemetry = try OpenTelemetryExporter(to: .collector("http://localhost:4318", over: transport), service: "shop")
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: .init(observers: [telemetry]), transport: transport
        ) {
            .traceparent
        }
        _ = try await client.get("users/\(42)").data()
        await telemetry.flush()
        #expect(transport.requests.map(\.urlText).suffix(2).map { $0.hasPrefix("http://localhost:4318/v1/") } == [true, true])
    }

    @Test("Metrics")
    func metrics() async throws {
        let metrics = CallMetrics()
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: .init(observers: [metrics]), transport: transport)
        _ = try await client.get("users/\(42)").data()
        let text = metrics.prometheus
        #expect(text.contains(#"url_template="/users/{}""#))
    }
}
