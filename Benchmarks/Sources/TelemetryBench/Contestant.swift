import Foundation
import Midstream
import MidstreamTelemetry

/// What observes calls.
struct Observers {
    let name: String
    var exporter: (any HTTPTransport) throws -> OpenTelemetryExporter? = { _ in nil }
    var others: () throws -> [any CallObserver] = { [] }

    /// The first has none, and is what the others are compared with.
    static var all: [Observers] {
        [
            Observers(name: "nothing"),
            Observers(name: "an observer that does nothing", others: { [Idle()] }),
            Observers(name: "CallMetrics", others: { [CallMetrics()] }),
            Observers(name: "OpenTelemetryExporter", exporter: { try exporter(over: $0, .exchanges) }),
            Observers(name: "OpenTelemetryExporter, calls as well", exporter: { try exporter(over: $0, .exchangesAndCalls) }),
            Observers(name: "OpenTelemetryExporter, a tenth", exporter: { try exporter(over: $0, .exchanges, ratio: 0.1) }),
            Observers(name: "InspectorObserver", others: { [try InspectorObserver()] }),
        ]
    }

    private static func exporter(
        over transport: any HTTPTransport, _ spans: OpenTelemetryExporter.Spans, ratio: Double = 1
    ) throws -> OpenTelemetryExporter {
        try OpenTelemetryExporter(
            to: .collector("http://localhost:4318", over: transport), service: "bench", spans: spans, ratio: ratio)
    }

    private struct Idle: CallObserver {}
}

/// A client with observers.
struct Contestant {
    /// After as many requests an exporter sends what it has, so that none is dropped.
    static let batch = 512

    /// Takes all that is sent to it.
    private struct Collector: HTTPTransport {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            _ = try await request.body.collect()
            return HTTPResponse(status: 200, body: .bytes(Array("{}".utf8)), request: request)
        }
    }

    private let client: HTTPClient
    private let exporter: OpenTelemetryExporter?
    private let request: HTTPRequest

    init(_ observers: Observers, over transport: (any HTTPTransport)? = nil, url: String? = nil) throws {
        exporter = try observers.exporter(Collector())
        let all = try observers.others() + (exporter.map { [$0] } ?? [])
        client = HTTPClient(configuration: .init(observers: all), transport: transport)
        // As it is: an interpolation would be encoded.
        request = HTTPRequest(url.map { $0 + "/bench" } ?? "https://api.example.com/users/42?full=1")
    }

    func send(_ times: Int) async throws {
        for number in 1...times {
            _ = try await client.send(request)
            if number.isMultiple(of: Self.batch) { await exporter?.flush() }
        }
        await exporter?.flush()
        precondition(exporter?.dropped ?? 0 == 0)
    }
}
