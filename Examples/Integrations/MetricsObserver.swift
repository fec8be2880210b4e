import Metrics
import Midstream

/// Gives swift-metrics the duration and the sizes of each exchange, by the names of OpenTelemetry's conventions for HTTP clients.
///
/// Dimensions have few values each: unknown methods are `_OTHER`. All of them are always there, empty where there is no value, such as that
/// of a route or of a failure: swift-prometheus ends the process when a metric comes with other names than before.
struct MetricsObserver: CallObserver {
    func endedExchange(_ exchange: ExchangeRecord) {
        let dimensions = Self.dimensions(of: exchange)
        Timer(label: "http.client.request.duration", dimensions: dimensions).recordSeconds(exchange.duration / .seconds(1))
        guard !exchange.isBodyArriving else { return }
        Self.recordSizes(exchange.metrics, dimensions)
    }

    /// A streamed response is longer than its head; its size is known now.
    func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        guard case .complete(_, let metrics) = end else { return }
        Self.recordSizes(metrics ?? exchange.metrics, Self.dimensions(of: exchange))
    }

    private static func recordSizes(_ metrics: TransportMetrics?, _ dimensions: [(String, String)]) {
        if let size = metrics?.requestBodyBytes {
            Recorder(label: "http.client.request.body.size", dimensions: dimensions).record(size)
        }
        if let size = metrics?.responseBodyBytes {
            Recorder(label: "http.client.response.body.size", dimensions: dimensions).record(size)
        }
    }

    private static let methods: Set<HTTPMethod> = [
        .get, .head, .post, .put, .delete, .options, .trace, .patch, "CONNECT", "QUERY",
    ]

    private static func dimensions(of exchange: ExchangeRecord) -> [(String, String)] {
        let origin = HTTPOrigin(exchange.url)
        let error = exchange.error == "cancelled" ? nil : exchange.error
        return [
            ("http.request.method", methods.contains(exchange.method) ? exchange.method.rawValue : "_OTHER"),
            ("server.address", origin?.host ?? ""),
            ("server.port", origin.map { "\($0.port)" } ?? ""),
            ("url.template", exchange.route ?? ""),
            ("http.response.status_code", exchange.status.map { "\($0.code)" } ?? ""),
            ("error.type", error ?? ""),
        ]
    }
}
