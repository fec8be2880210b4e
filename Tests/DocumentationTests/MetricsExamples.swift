import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Metrics.md", .timeLimit(.minutes(10)))
struct MetricsExamples {
    /// Counts what goes over the wire, by host.
    struct Traffic: HTTPInterceptor {
        let stage = InterceptorStage.exchange
        let count: @Sendable (_ host: String, _ bytes: Int64) -> Void

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            let response = try await next(request)
            if let metrics = response.metrics {
                count(request.url.host ?? "", (metrics.bytesSent ?? 0) + (metrics.bytesReceived ?? 0))
            }
            return response
        }
    }

    @Test("What is measured")
    func measured() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "hello"))
        let counted = Recorder()
        let client = HTTPClient(baseURL: server.url()) { Traffic { counted.write("\($0) \($1 > 0)") } }
        let request = HTTPRequest("report")
        let response = try await client.send(HTTPRequest("report"))
        if let metrics = response.metrics {
            print("first byte after", metrics.firstByte ?? .zero, "of", metrics.total ?? .zero)
            print(metrics.isReusedConnection == true ? "kept connection" : "new connection")
        }
        #if os(Linux)
            let metrics = try #require(response.metrics)
            #expect(metrics.remotePort == server.port && metrics.total != nil && metrics.resends == 0)
            #expect(counted.events == ["127.0.0.1 true"])
        #endif

        let attempts = response.trace.events(named: "retry").count + 1
        let milliseconds = response.trace.spans.first?.duration?.formatted(.units(allowed: [.milliseconds]))
        print(request.route ?? request.url.path, response.status, attempts, milliseconds ?? "")
        #expect(attempts == 1 && milliseconds != nil)
    }

    @Test("The table has all that is measured, in its order")
    func complete() throws {
        let labels = Mirror(reflecting: TransportMetrics()).children.compactMap(\.label)
            // Not public.
            .filter { $0 != "connectStart" }
        #expect(try MarkdownPage(path: "Documentation/Metrics.md").table(below: "What is measured") == labels)
    }
}
