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
    _ = try await client.get("users/\(42)").data()
    let dimensions =
        "{http.request.method=GET,server.address=api.example.com,server.port=443,url.template=users/{},"
        + "http.response.status_code=200}"
    let values = Recorded.take()
    expect(values.contains("http.client.request.duration\(dimensions) true"), "\(values)")
    expect(values.contains("http.client.response.body.size\(dimensions) 5"), "\(values)")
}
