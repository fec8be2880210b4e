import Metrics
import Midstream
import MidstreamTesting

func metrics() async throws {
    let stub = StubTransport { request in
        var response = HTTPResponse(status: 200, body: .text("hello"), request: request, metrics: TransportMetrics())
        response.metrics?.responseBodyBytes = 5
        return response
    }
    let client = HTTPClient(
        baseURL: "https://api.example.com", configuration: .init(observers: [MetricsObserver()]), transport: stub)
    let failing = HTTPClient(
        baseURL: "https://api.example.com", configuration: .init(observers: [MetricsObserver()]),
        transport: StubTransport { _ in throw HTTPError(.connection, phase: .notSent) })
    let server = "http.request.method=GET,server.address=api.example.com,server.port=443"
    _ = try await client.get("users/\(42)").data()
    var values = Recorded.take()
    let dimensions = "{\(server),url.template=users/{},http.response.status_code=200,error.type=}"
    expect(values.contains("http.client.request.duration\(dimensions) true"), "\(values)")
    expect(values.contains("http.client.response.body.size\(dimensions) 5"), "\(values)")
    _ = try? await failing.get("users/\(42)").data()
    values = Recorded.take()
    let failure = "{\(server),url.template=users/{},http.response.status_code=,error.type=connection}"
    expect(values == ["http.client.request.duration\(failure) true"], "\(values)")
    _ = try await client.get("health").data()
    values = Recorded.take()
    let routeless = "{\(server),url.template=,http.response.status_code=200,error.type=}"
    expect(values.contains("http.client.request.duration\(routeless) true"), "\(values)")
}
