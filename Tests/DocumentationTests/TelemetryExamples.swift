import Foundation
import Midstream
import MidstreamTelemetry
import MidstreamTesting
import Testing

#if os(Linux)
    import MidstreamWire
#endif

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

    #if os(Linux)
        @Test("Connections")
        func connections() async throws {
            let transport = WireTransport()
            let telemetry = try OpenTelemetryExporter(
                to: .collector("http://localhost:4318", over: transport), service: "shop", connectionsOf: [transport])
            await telemetry.metrics.countConnections(of: [transport])
            #expect(telemetry.metrics.prometheus.isEmpty)
        }
    #endif

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
