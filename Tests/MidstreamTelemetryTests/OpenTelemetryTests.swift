import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTelemetry

#if os(Linux)
    import MidstreamCurl
#endif

@Suite("Spans and metrics", .leavesNothing, .timeLimit(.minutes(10)))
struct OpenTelemetryTests {
    typealias Object = [String: Any]

    /// The documents of what a client does, by way of a file.
    private func documents(
        _ spans: OpenTelemetryExporter.Spans = .exchanges, attributes: [String: String] = ["service.version": "1.2"],
        headers: [HTTPHeaders.Name] = [], ratio: Double = 1, _ body: (OpenTelemetryExporter) async throws -> Void
    ) async throws -> [Object] {
        let folder = try TemporaryFolder()
        let path = folder.url.appendingPathComponent("telemetry.jsonl").path
        let exporter = try OpenTelemetryExporter(
            to: .file(path), service: "shop", attributes: attributes, spans: spans, headers: headers, ratio: ratio)
        try await body(exporter)
        await exporter.flush(within: .seconds(120))
        #expect(exporter.dropped == 0 && exporter.failure == nil)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        return try lines.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? Object) }
    }

    static func spans(_ documents: [Object]) -> [Object] {
        documents.flatMap { document in
            (document["resourceSpans"] as? [Object] ?? []).flatMap { $0["scopeSpans"] as? [Object] ?? [] }.flatMap {
                $0["spans"] as? [Object] ?? []
            }
        }
    }

    static func resource(_ document: Object) -> [String: String] {
        let parts = (document["resourceSpans"] ?? document["resourceMetrics"]) as? [Object]
        return attributes(parts?.first?["resource"] as? Object ?? [:])
    }

    static func attributes(_ object: Object) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: (object["attributes"] as? [Object] ?? []).map { attribute in
                let value = (attribute["value"] as? Object)?.first
                return (attribute["key"] as? String ?? "", value.map { "\($0.key) \($0.value)" } ?? "")
            })
    }

    private func client(
        _ exporter: OpenTelemetryExporter, @PipelineBuilder _ interceptors: () -> [any HTTPInterceptor] = { [] },
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> HTTPClient {
        testClient(
            configuration: .init(random: { 0 }, observers: [exporter]), transport: StubTransport(respond),
            interceptors: interceptors)
    }

    @Test("Requests that differ in what no attribute says are one set")
    func oneSet() async throws {
        let metrics = CallMetrics()
        let client = testClient(configuration: .init(observers: [metrics]), transport: StubTransport.ok)
        for method: HTTPMethod in ["BREW", "WHEN"] { _ = try await client.send(HTTPRequest(method, "https://h/")) }
        let counts = metrics.prometheus.split(separator: "\n").filter {
            $0.hasPrefix("http_client_request_duration_seconds_count")
        }
        #expect(counts.count == 1 && counts[0].hasSuffix(" 2") && counts[0].contains("_OTHER"))
    }

    @Test("The template is the same whether the origin is written or interpolated, and a URL interpolated alone has none")
    func templateOfInterpolatedOrigin() async throws {
        let metrics = CallMetrics()
        let client = testClient(configuration: .init(observers: [metrics]), transport: StubTransport.ok)
        let url = try #require(URL(string: "https://h/articles/1"))
        for request in [
            HTTPRequest("https://h/users/\(1)"), HTTPRequest("\(raw: "https://h")/users/\(2)?page=\(3)"), HTTPRequest("\(url)"),
        ] {
            _ = try await client.send(request)
        }
        let counts = metrics.prometheus.split(separator: "\n").filter {
            $0.hasPrefix("http_client_request_duration_seconds_count")
        }
        #expect(counts.count == 2)
        #expect(counts.contains { $0.contains(#"url_template="/users/{}""#) && $0.hasSuffix(" 2") })
        #expect(counts.contains { !$0.contains("url_template") && $0.hasSuffix(" 1") })
    }

    @Test("a retry is a span of its own, whose number and status tell")
    func retry() async throws {
        let documents = try await documents { exporter in
            var request = HTTPRequest("https://u:S3CR3T@example.com:8443/a?sig=S3CR3T&q=1", headers: ["X-Tenant": "t"])
            request.maxRetries = 1
            _ = try await client(exporter) { request in
                HTTPResponse(
                    status: request.attempt == 1 ? 503 : 200, headers: ["X-Kind": "k"], request: request, version: .http2)
            }.send(request)
        }
        let spans = Self.spans(documents)
        #expect(spans.count == 2)
        let (first, second) = (Self.attributes(spans[0]), Self.attributes(spans[1]))
        #expect(spans.map { $0["name"] as? String } == ["GET", "GET"] && spans.map { $0["kind"] as? Int } == [3, 3])
        #expect((spans[0]["status"] as? Object)?["code"] as? Int == 2 && (spans[1]["status"] as? Object)?.isEmpty == true)
        #expect(first["error.type"] == "stringValue 503" && first["http.request.resend_count"] == nil)
        #expect(second["error.type"] == nil && second["http.request.resend_count"] == "intValue 1")
        #expect(second["http.response.status_code"] == "intValue 200" && second["server.port"] == "intValue 8443")
        #expect(second["server.address"] == "stringValue example.com" && second["network.protocol.version"] == "stringValue 2")
        #expect(second["url.full"]?.hasSuffix("example.com:8443/a?sig=REDACTED&q=1") == true)
        #expect(spans[0]["traceId"] as? String == spans[1]["traceId"] as? String)
        #expect(spans[0]["spanId"] as? String != spans[1]["spanId"] as? String)
        for span in spans {
            #expect((span["traceId"] as? String)?.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            #expect((span["spanId"] as? String)?.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            let (start, end) = (span["startTimeUnixNano"] as? String, span["endTimeUnixNano"] as? String)
            #expect(Int64(start ?? "").map { $0 > 1_700_000_000_000_000_000 } == true && (start ?? "") <= (end ?? ""))
        }
        #expect(Self.resource(documents[0])["service.name"] == "stringValue shop")
    }

    @Test("two exporters of a service are told apart, and all that one of them sends is of the same instance")
    func instances() async throws {
        func identifiers(_ attributes: [String: String] = [:]) async throws -> [String] {
            let documents = try await documents(attributes: attributes) { exporter in
                _ = try await client(exporter) { request in
                    HTTPResponse(status: .ok, request: request)
                }.send(HTTPRequest("http://h/"))
            }
            return documents.map { Self.resource($0)["service.instance.id"] ?? "" }
        }
        let (first, second) = (try await identifiers(), try await identifiers())
        for own in [first, second] {
            #expect(own.count == 2 && Set(own).count == 1)
            #expect(own.first?.wholeMatch(of: /stringValue [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
        }
        #expect(first != second)
        #expect(try await identifiers(["service.instance.id": "a"]) == ["stringValue a", "stringValue a"])
    }

    @Test("the version of HTTP is its number")
    func versions() async throws {
        let documents = try await documents { exporter in
            let client = client(exporter) { request in
                let version = HTTPVersion.allCases.first { request.urlText.hasSuffix($0.rawValue) }
                return HTTPResponse(status: .ok, request: request, version: version ?? .http1_1)
            }
            for version in HTTPVersion.allCases { _ = try await client.send(HTTPRequest("http://h/\(raw: version.rawValue)")) }
        }
        let versions = Self.spans(documents).map { Self.attributes($0)["network.protocol.version"] }
        #expect(versions == ["1.0", "1.1", "2", "3"].map { "stringValue \($0)" })
    }

    @Test("an answer to 401 and a redirect are resends as well, whatever the attempt")
    func resends() async throws {
        let documents = try await documents { exporter in
            let client = client(exporter) {
                AuthenticationInterceptor(Refreshing(), credential: "old")
            } _: { request in
                if request.headers[.authorization] == "old" { return HTTPResponse(status: .unauthorized, request: request) }
                let isFirst = request.urlText.hasSuffix("/a")
                return HTTPResponse(
                    status: isFirst ? .found : .ok, headers: isFirst ? ["Location": "/b"] : [:], request: request)
            }
            _ = try await client.send(HTTPRequest("http://h/a"))
        }
        let spans = Self.spans(documents).map(Self.attributes)
        #expect(spans.map { $0["http.response.status_code"] } == ["intValue 401", "intValue 302", "intValue 200"])
        #expect(spans.map { $0["http.request.resend_count"] } == [nil, "intValue 1", "intValue 2"])
        #expect(spans.map { $0["midstream.cause"] } == ["stringValue first", "stringValue credential", "stringValue redirect"])
    }

    @Test("the last of too many redirects is an error, and the others aren't")
    func tooManyRedirects() async throws {
        let documents = try await documents { exporter in
            let client = client(exporter) { request in
                HTTPResponse(status: .found, headers: ["Location": "/a/\(request.urlText.utf8.count)"], request: request)
            }
            let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("http://h/a")) }
            #expect(error?.code == .tooManyRedirects)
            var request = HTTPRequest("http://h/a")
            request.redirects = .refuse
            _ = try await client.send(request)
        }
        let spans = Self.spans(documents)
        let errors = spans.map { Self.attributes($0)["error.type"] }
        #expect(errors == Array(repeating: nil, count: 10) + ["stringValue tooManyRedirects", nil])
        #expect(spans.map { ($0["status"] as? Object)?["code"] as? Int } == Array(repeating: nil, count: 10) + [2, nil])
        #expect(spans.allSatisfy { Self.attributes($0)["http.response.status_code"] == "intValue 302" })
    }

    /// Tells its size at its end.
    private final class MeasuredBody: IncomingBody {
        private let body: ArrivingBody
        private let size: Int

        init(size: Int) { (self.body, self.size) = (ArrivingBody([Array(repeating: 32, count: size)]), size) }

        func next() async throws -> [UInt8]? { try await body.next() }
        func close() { body.close() }
        var isSpent: Bool { body.isSpent }
        var trailers: HTTPHeaders? { nil }
        var metrics: TransportMetrics? {
            guard isSpent else { return nil }
            var metrics = TransportMetrics()
            metrics.requestBodyBytes = 5
            metrics.responseBodyBytes = Int64(size)
            return metrics
        }
    }

    @Test(
        "metrics of the last of too many redirects have its span's error, whenever its body ends",
        arguments: [nil, 7, HTTPError.keptBody + 1])
    func tooManyRedirectsMeasured(size: Int?) async throws {
        let metrics = CallMetrics()
        let client = testClient(
            configuration: .init(observers: [metrics]),
            transport: StubTransport { request in
                let fields: HTTPHeaders = ["Location": "/a/\(request.urlText.utf8.count)"]
                let body = size.map { HTTPBody.incoming(MeasuredBody(size: $0)) } ?? .empty
                var response = HTTPResponse(status: .found, headers: fields, body: body, request: request)
                response.metrics = TransportMetrics()
                response.metrics?.responseBodyBytes = 3
                return response
            })
        var error: HTTPError?
        do { _ = try await client.stream(HTTPRequest("http://h/a")) } catch let thrown as HTTPError { error = thrown }
        #expect(error?.code == .tooManyRedirects)
        error?.response?.body.close()
        // The redirects that were followed were closed; the body of the last one is read as far as an error keeps it.
        let sizes = ["http_client_response_body_size_bytes_sum": (size == 7 ? " 7.0" : " 3.0", " 30.0")]
        let counts = [
            "http_client_request_duration_seconds_count": (" 1", " 10"),
            "http_client_response_body_size_bytes_count": (" 1", " 10"),
        ]
        let lines = metrics.prometheus.split(separator: "\n")
        for (name, (last, others)) in sizes.merging(counts, uniquingKeysWith: { $1 }) {
            let found = lines.filter { $0.hasPrefix(name) }
            #expect(found.count == 2, "\(found)")
            #expect(found.first { $0.contains(#"error_type="tooManyRedirects""#) }?.hasSuffix(last) == true, "\(found)")
            #expect(found.first { !$0.contains("error_type") }?.hasSuffix(others) == true, "\(found)")
        }
    }

    @Test("metrics have the sizes of a streamed exchange once its body has ended, the request's as well")
    func streamedSizes() async throws {
        let metrics = CallMetrics()
        let client = testClient(
            configuration: .init(observers: [metrics]),
            transport: StubTransport { request in
                HTTPResponse(status: .ok, body: .incoming(MeasuredBody(size: 7)), request: request)
            })
        let response = try await client.stream(HTTPRequest(.post, "http://h/a", body: .text("hello")))
        #expect(!metrics.prometheus.contains("body_size"))
        #expect(try await response.body.collect().count == 7)
        for (side, size) in [("request", 5), ("response", 7)] {
            let name = "http_client_\(side)_body_size_bytes_sum"
            let sums = metrics.prometheus.split(separator: "\n").filter { $0.hasPrefix(name) }
            #expect(sums.count == 1 && sums[0].hasSuffix(" \(size).0"), "\(sums)")
        }
    }

    @Test("metrics have the sizes of an answer that is an error with its status, though its reader was cancelled")
    func cancelledSizes() async throws {
        let metrics = CallMetrics()
        let client = testClient(
            configuration: .init(validators: [], observers: [metrics]),
            transport: StubTransport { request in
                var measured = TransportMetrics()
                measured.responseBodyBytes = 7
                let body = ArrivingBody(thenThrowing: CancellationError())
                return HTTPResponse(
                    status: .internalServerError, body: .incoming(body), request: request, metrics: measured)
            })
        let response = try await client.stream(HTTPRequest("http://h/a"))
        await #expect(throws: CancellationError.self) { try await response.body.collect() }
        let sums = metrics.prometheus.split(separator: "\n").filter {
            $0.hasPrefix("http_client_response_body_size_bytes_sum")
        }
        #expect(sums.count == 1 && sums[0].contains(#"error_type="500""#) && sums[0].hasSuffix(" 7.0"), "\(sums)")
    }

    private struct Refreshing: Authenticator {
        func apply(_ credential: String, to request: inout HTTPRequest) async throws {
            request.headers[.authorization] = credential
        }
        func refresh(_ credential: String?) async throws -> String { "new" }
    }

    @Test("the span is the one that the server continues, within that of the task")
    func propagation() async throws {
        let parent = TraceParent()
        let sent = Locked<[String?]>([])
        let documents = try await documents(.exchangesAndCalls, headers: ["X-Kind"]) { exporter in
            let client = client(exporter) {
                TraceParentInterceptor()
            } _: { request in
                sent.withLock { $0.append(request.headers["traceparent"]) }
                return HTTPResponse(status: .ok, headers: ["X-Kind": "a", "x-kind": "b"], request: request)
            }
            let request = HTTPRequest(HTTPMethod(rawValue: "BREW"), "http://h/users/\(7)?x=1")
            try await TraceParent.$current.withValue(parent) { _ = try await client.send(request) }
            var elsewhere = parent
            elsewhere.isSampled = false
            try await TraceParent.$current.withValue(elsewhere) { _ = try await client.send(request) }
        }
        let spans = Self.spans(documents)
        #expect(spans.count == 2)
        let (exchange, call) = (spans[0], spans[1])
        let own = try #require(TraceParent(sent.withLock { $0[0] }))
        #expect(exchange["traceId"] as? String == parent.traceID && exchange["spanId"] as? String == own.spanID)
        #expect(
            exchange["parentSpanId"] as? String == call["spanId"] as? String && call["parentSpanId"] as? String == parent.spanID)
        #expect(call["kind"] as? Int == 1 && exchange["name"] as? String == "HTTP /users/{}")
        #expect(call["name"] as? String == "call HTTP /users/{}")
        let attributes = Self.attributes(exchange)
        #expect(attributes["http.request.method"] == "stringValue _OTHER")
        #expect(attributes["http.request.method_original"] == "stringValue BREW")
        #expect(attributes["http.response.header.x-kind"]?.contains("arrayValue") == true)
    }

    @Test("what the caller cancelled is no error, and what failed has its kind")
    func failures() async throws {
        let documents = try await documents(.exchangesAndCalls) { exporter in
            let client = client(exporter) { request in
                if request.urlText.hasSuffix("cancel") { throw CancellationError() }
                throw HTTPError(.timeout, "late")
            }
            for path in ["cancel", "late"] { _ = try? await client.send(HTTPRequest("http://h/" + path)) }
        }
        let spans = Self.spans(documents)
        #expect(spans.map { ($0["status"] as? Object)?["code"] as? Int } == [nil, nil, 2, 2])
        #expect(spans.map { Self.attributes($0)["error.type"] } == [nil, nil, "stringValue timeout", "stringValue timeout"])
    }

    @Test("as many traces as the ratio says, all or nothing of each")
    func ratio() async throws {
        for (ratio, range) in [(0.0, 0...0), (0.5, 20...180)] {
            let documents = try await documents(.exchangesAndCalls, ratio: ratio) { exporter in
                let client = client(exporter) { HTTPResponse(status: .ok, request: $0) }
                for _ in 0..<100 { _ = try await client.send(HTTPRequest("http://h/")) }
            }
            let count = Self.spans(documents).count
            #expect(range.contains(count) && count.isMultiple(of: 2))
        }
    }

    @Test("metrics have the conventions' names, and the same as Prometheus' text")
    func metrics() async throws {
        let text = Locked("")
        let documents = try await documents { exporter in
            var request = HTTPRequest("http://h/a")
            request.maxRetries = 1
            _ = try await client(exporter) { request in
                HTTPResponse(status: request.attempt == 1 ? 503 : 200, request: request)
            }.send(request)
            text.withLock { $0 = exporter.metrics.prometheus }
        }
        let metrics = documents.flatMap {
            ($0["resourceMetrics"] as? [Object] ?? []).flatMap { $0["scopeMetrics"] as? [Object] ?? [] }
        }
        .flatMap { $0["metrics"] as? [Object] ?? [] }
        #expect(
            metrics.map { $0["name"] as? String } == [
                "http.client.request.duration", "http.client.active_requests", "midstream.retries",
            ])
        let histogram = try #require(metrics[0]["histogram"] as? Object)
        #expect(histogram["aggregationTemporality"] as? Int == 2)
        let points = try #require(histogram["dataPoints"] as? [Object])
        #expect(points.count == 2 && points.allSatisfy { $0["count"] as? String == "1" })
        #expect((points[0]["explicitBounds"] as? [Double])?.count == 14 && (points[0]["bucketCounts"] as? [String])?.count == 15)
        let shown = text.withLock { $0 }
        #expect(shown.contains("# TYPE http_client_request_duration_seconds histogram\n"))
        #expect(shown.contains(#"error_type="503""#) && shown.contains(#"le="+Inf"} 1"#))
        #expect(shown.contains("midstream_retries_total 1.0\n"))
        #expect(
            shown.contains(#"http_client_active_requests{http_request_method="GET",server_address="h",server_port="80"} 0.0"#))
    }

    @Test("a label of Prometheus' text ends where it should, whatever stands beside its quotation marks and line ends")
    func escapedLabels() throws {
        let metrics = CallMetrics()
        let event = CallEvent("breaker.changed", "", ["key": "a\"\u{301}b\r\nc\\", "to": "open"])
        metrics.happened(event, at: .zero, in: try #require(CallRecord.ID(String(repeating: "0", count: 32))))
        let line = "midstream_circuit_state{midstream_key=\"a\\\"\u{301}b\r\\nc\\\\\"} 2.0\n"
        #expect(Array(metrics.prometheus.utf8) == Array("# TYPE midstream_circuit_state gauge\n\(line)".utf8))
    }

    @Test("metrics begin no later than they end, also where the clock is set back")
    func clockSetBack() {
        let metrics = CallMetrics(now: { Date(timeIntervalSince1970: 7_200) })
        metrics.drop(1)
        for seconds in [100, 110] {
            let metric = metrics.json(at: Date(timeIntervalSince1970: Double(seconds)))[0].text
            #expect(metric.contains(#""startTimeUnixNano":"100000000000","timeUnixNano":"\#(seconds)000000000""#))
        }
    }

    @Test("decisions that a member of a fleet made by itself are counted")
    func degraded() async throws {
        struct Lonely: Quota, Degradable {
            var degradation: String? { "no answer in time" }
            func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision { .sends(after: .zero) }
            func giveBack(for key: String) async {}
        }
        let metrics = CallMetrics()
        let client = testClient(configuration: .init(observers: [metrics]), transport: StubTransport.ok) {
            RateLimit(quota: Lonely())
        }
        for _ in 0..<2 { _ = try await client.send(HTTPRequest("http://h/")) }
        #expect(
            metrics.prometheus.contains(#"midstream_fleet_degraded_total{midstream_what="the quota of http://h"} 2.0"#),
            "\(metrics.prometheus)")
    }

    @Test("a lookup counts whatever comes of it: an answer to a HEAD, an error, or nothing before the caller leaves")
    func lookups() async throws {
        let metrics = CallMetrics()
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/fails") { throw HTTPError(.connection, phase: .notSent) }
            if request.urlText.hasSuffix("/stalls") { try await untilCancelled() }
            return HTTPResponse(status: .ok, request: request)
        }
        let client = testClient(configuration: .init(observers: [metrics]), transport: stub) { CacheInterceptor() }
        let misses: @Sendable (Int) -> Bool = { count in
            metrics.prometheus.contains("midstream_cache_lookups_total{midstream_cache_outcome=\"uri-miss\"} \(count).0\n")
        }
        #expect(await httpError { try await client.send(HTTPRequest("http://h/fails")) }?.code == .connection)
        #expect(misses(1), "\(metrics.prometheus)")
        _ = try await client.send(HTTPRequest(.head, "http://h/a"))
        #expect(misses(2), "\(metrics.prometheus)")
        #expect(await httpError { try await client.send(HTTPRequest(.head, "http://h/fails")) }?.code == .connection)
        #expect(misses(3), "\(metrics.prometheus)")
        let stalling = Task { try await client.send(HTTPRequest("http://h/stalls")) }
        await eventually { stub.requests.count == 4 }
        stalling.cancel()
        await #expect(throws: CancellationError.self) { try await stalling.value }
        #expect(misses(4), "\(metrics.prometheus)")
    }

    /// What becomes of a validation.
    enum Trouble: Sendable, CaseIterable {
        case unsent, broken, busy
    }

    @Test("a validation behind the answer that fails is a lookup, too, and one", arguments: Trouble.allCases)
    func failedValidation(by trouble: Trouble) async throws {
        let metrics = CallMetrics()
        let isGone = Locked(false)
        let stub = StubTransport { request in
            let headers: HTTPHeaders = [.cacheControl: "max-age=0, stale-while-revalidate=100, stale-if-error=100"]
            var response = HTTPResponse(status: .ok, headers: headers, body: .text("x"), request: request)
            guard isGone.withLock({ $0 }) else { return response }
            switch trouble {
            case .unsent: throw HTTPError(.connection, phase: .notSent)
            case .broken: response.body = .incoming(next: { throw HTTPError(.connectionLost, phase: .answered) }, close: {})
            case .busy: response.status = .serviceUnavailable
            }
            return response
        }
        let client = testClient(configuration: .init(observers: [metrics]), transport: stub) { CacheInterceptor() }
        _ = try await client.send(HTTPRequest("http://h/"))
        isGone.withLock { $0 = true }
        let stale = try await client.send(HTTPRequest("http://h/"))
        let end = trouble == .busy ? "asked the server meanwhile" : "failed to ask the server meanwhile"
        await eventually { "\(stale.trace)".contains(end) }
        let shown = metrics.prometheus
        for outcome in ["uri-miss", "hit", "stale"] {
            let line = "midstream_cache_lookups_total{midstream_cache_outcome=\"\(outcome)\"} 1.0\n"
            #expect(shown.contains(line), "\(shown)")
        }
    }

    private struct Measured: HTTPTransport {
        var origins = ["https://h"]

        var statistics: TransportStatistics {
            get async {
                let each = TransportStatistics(openConnections: 3, idleConnections: 1)
                return TransportStatistics(
                    openConnections: 4, idleConnections: 1, origins: Dictionary(uniqueKeysWithValues: origins.map { ($0, each) }))
            }
        }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: .ok, request: request) }
    }

    @Test("the connections of transports are counted before metrics are sent, and by who asks for it")
    func connections() async throws {
        try await withFolder { folder in
            let exporter = try OpenTelemetryExporter(
                to: .file("\(folder)/t"), service: "s", connectionsOf: [Measured(), Measured()])
            await exporter.flush(within: .seconds(120))
            let text = try String(contentsOfFile: "\(folder)/t", encoding: .utf8)
            #expect(text.contains(#""name":"http.client.open_connections","unit":"{connection}","sum":"#))
            #expect(text.contains(#""asInt":"4""#) && text.contains(#""asInt":"2""#))
        }
        let metrics = CallMetrics()
        await metrics.countConnections(of: [Measured()])
        for (state, count) in [("active", "2.0"), ("idle", "1.0")] {
            let labels = #"{http_connection_state="\#(state)",server_address="h",server_port="443"}"#
            #expect(metrics.prometheus.contains("http_client_open_connections\(labels) \(count)\n"))
        }
        await metrics.countConnections(of: [])
        #expect(!metrics.prometheus.contains("open_connections"))
    }

    #if os(Linux)
        @Test("libcurl's connections, too")
        func ownConnections() async throws {
            let server = try MockServer()
            server.respond { _ in .init(body: "hello") }
            let transport = curlTransport()
            let metrics = CallMetrics()
            _ = try await testClient(transport: transport).send(HTTPRequest(server.url("/")))
            await metrics.countConnections(of: [transport])
            #expect(
                metrics.prometheus.contains(
                    #"{http_connection_state="idle",server_address="127.0.0.1",server_port="\#(server.port)"} 1.0"#))
        }
    #endif

    @Test("secrets that the conventions name aren't in URLs, and the rest is")
    func secretItems() async throws {
        let names = [
            "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "AWSAccessKeyId", "Signature", "sig",
            "X-Goog-Signature",
        ]
        let query = names.map { "\($0)=S3CR3T" }.joined(separator: "&")
        // As it is: an interpolation would be encoded.
        let url = "https://h/a?" + query + "&q=1"
        let documents = try await documents { exporter in
            let client = client(exporter) { HTTPResponse(status: .ok, request: $0) }
            _ = try await client.send(HTTPRequest(url))
        }
        let shown = names.map { "\($0)=REDACTED" }.joined(separator: "&")
        #expect(Self.attributes(Self.spans(documents)[0])["url.full"] == "stringValue https://h/a?\(shown)&q=1")
    }

    @Test("numbers of events that JSON hasn't are texts")
    func numbers() async throws {
        let documents = try await documents(.exchangesAndCalls) { exporter in
            let client = client(exporter) {
                ClosureHTTPInterceptor("Own", stage: .call) { request, next in
                    request.record(CallEvent("own", "something", ["none": .number(.nan), "share": 0.5]))
                    return try await next(request)
                }
            } _: { request in
                HTTPResponse(status: .ok, request: request)
            }
            _ = try await client.send(HTTPRequest("http://h/"))
        }
        let events = Self.spans(documents).flatMap { $0["events"] as? [Object] ?? [] }
        let own = Self.attributes(try #require(events.first { $0["name"] as? String == "own" }))
        #expect(own["midstream.none"] == "stringValue nan" && own["midstream.share"] == "doubleValue 0.5")
    }

    @Test("too many sets of attributes overflow into one")
    func overflow() async throws {
        let metrics = CallMetrics()
        let client = testClient(configuration: .init(observers: [metrics]), transport: StubTransport.ok)
        for number in 0..<2_010 { _ = try await client.send(HTTPRequest("http://h\(number)/")) }
        #expect(metrics.prometheus.contains(#"http_client_request_duration_seconds_count{otel_metric_overflow="true"} 10"#))
        await metrics.countConnections(of: [Measured(origins: (0..<1_005).map { "https://h\($0)" })])
        let lines = metrics.prometheus.split(separator: "\n").filter { $0.hasPrefix("http_client_open_connections{") }
        // Of each of the origins that don't fit two are active and one is idle.
        #expect(lines.count == 2_001 && lines.contains(#"http_client_open_connections{otel_metric_overflow="true"} 15.0"#))
    }
}

@Suite("An exporter of telemetry", .leavesNothing, .timeLimit(.minutes(10)))
struct TelemetryExportTests {
    /// How the collector answers, one after the other; the last one again and again. What it gets is counted.
    private func export(
        _ answers: [@Sendable (HTTPRequest) throws -> HTTPResponse], spans: Int = 3,
        _ check: (OpenTelemetryExporter, [HTTPRequest]) -> Void
    ) async throws {
        let received = Locked<[HTTPRequest]>([])
        let collector = StubTransport { request in
            let number = received.withLock { received in
                received.append(request)
                return received.count
            }
            if request.urlText.hasSuffix("metrics") { return HTTPResponse(status: .ok, request: request) }
            return try answers[min(number, answers.count) - 1](request)
        }
        let clock = TestClock()
        let exporter = try OpenTelemetryExporter(
            to: .collector("http://collector:4318", headers: ["X-Key": "k"], over: collector), service: "shop", clock: clock)
        let client = testClient(configuration: .init(observers: [exporter]), transport: StubTransport.ok)
        for _ in 0..<spans { _ = try await client.send(HTTPRequest("http://h/")) }
        let flush = Task { await exporter.flush(within: .seconds(100_000)) }
        let driver = Task {
            await eventually {
                // In steps that leave an attempt, which has 10 s, about a hundred turns.
                clock.advance(by: .milliseconds(100))
                return false
            }
        }
        _ = await flush.value
        driver.cancel()
        await driver.value
        check(exporter, received.withLock { $0 })
    }

    /// An exporter to a collector, and a client whose calls it sees. By default its clock stands still, so that nothing is sent until a batch is
    /// full.
    private func exporting(
        to collector: StubTransport, metricsInterval: Duration = .seconds(60), clock: TestClock = TestClock()
    ) throws -> (OpenTelemetryExporter, HTTPClient) {
        let exporter = try OpenTelemetryExporter(
            to: .collector("http://collector", over: collector), service: "shop", metricsInterval: metricsInterval, clock: clock)
        return (exporter, testClient(configuration: .init(observers: [exporter]), transport: StubTransport.ok))
    }

    @Test("says what OTLP wants of a request")
    func request() async throws {
        try await export([{ HTTPResponse(status: .ok, body: .text("{}"), request: $0) }]) { exporter, requests in
            #expect(exporter.dropped == 0 && exporter.failure == nil && requests.count == 2)
            #expect(requests.map(\.urlText) == ["http://collector:4318/v1/traces", "http://collector:4318/v1/metrics"])
            #expect(requests.allSatisfy { $0.headers[.contentType] == "application/json" && $0.headers["X-Key"] == "k" })
            #expect(requests[0].headers[.contentEncoding] == "gzip" && requests[0].method == .post)
        }
    }

    @Test("repeats what may pass, once the collector may be asked again")
    func retries() async throws {
        try await export([
            { HTTPResponse(status: 503, headers: ["Retry-After": "7"], request: $0) },
            { HTTPResponse(status: 429, request: $0) }, { _ in throw HTTPError(.connection, "refused", phase: .notSent) },
            { HTTPResponse(status: .ok, request: $0) },
        ]) { exporter, requests in
            #expect(exporter.dropped == 0 && exporter.failure == nil)
            #expect(requests.filter { $0.urlText.hasSuffix("traces") }.count == 4)
        }
    }

    @Test("waits as long as the collector asks for, up to five minutes", arguments: [200, 300, 3_600])
    func longWait(seconds: Int) async throws {
        let clock = TestClock()
        let collector = StubTransport { request in
            clock.now.offset < .seconds(100)
                ? HTTPResponse(status: 503, headers: ["Retry-After": "\(seconds)"], request: request)
                : HTTPResponse(status: .ok, request: request)
        }
        let (exporter, client) = try exporting(to: collector, clock: clock)
        _ = try await client.send(HTTPRequest("http://h/"))
        await eventually { clock.nextDeadline?.offset == .seconds(5) }
        clock.advance(by: .seconds(5))
        // Behind the timeout of the attempt.
        await eventually { clock.nextDeadline.map { $0.offset > .seconds(15) } == true }
        try #require(clock.nextDeadline?.offset == .seconds(5 + min(seconds, 300)))
        clock.advanceToLastDeadline()
        #expect(await exporter.flush())
        #expect(exporter.failure == nil && exporter.dropped == 0)
        #expect(collector.requests.count { $0.urlText.hasSuffix("traces") } == 2)
    }

    @Test("drops and counts what is refused, and never sends it again", arguments: [302, 304, 400, 413, 500])
    func refusals(status: Int) async throws {
        try await export([{ HTTPResponse(status: HTTPStatus(status), body: .text("\u{0}garbage"), request: $0) }]) {
            exporter, requests in
            // Metrics were taken after that.
            #expect(exporter.failure?.contains("\(status)") == true)
            #expect(exporter.metrics.prometheus.contains("midstream_spans_dropped_total 3.0\n"))
            #expect(exporter.dropped == 3 && requests.filter { $0.urlText.hasSuffix("traces") }.count == 1)
        }
    }

    @Test("follows no redirect, so that what answers there isn't taken for the collector")
    func redirects() async throws {
        try await export([
            { HTTPResponse(status: .found, headers: [.location: "http://login/"], request: $0) },
            { HTTPResponse(status: .ok, body: .text("<html>"), request: $0) },
        ]) { exporter, requests in
            #expect(exporter.dropped == 3 && exporter.failure?.contains("302") == true)
            #expect(requests.map(\.urlText) == ["http://collector:4318/v1/traces", "http://collector:4318/v1/metrics"])
            #expect(requests.allSatisfy { $0.method == .post })
        }
    }

    @Test("counts what a partial success refuses, and never sends it again", arguments: [#""2""#, "2"])
    func partialSuccess(count: String) async throws {
        let body = #"{"partialSuccess":{"rejectedSpans":\#(count),"errorMessage":"no"}}"#
        try await export([{ HTTPResponse(status: .ok, body: .text(body), request: $0) }]) { exporter, requests in
            #expect(exporter.dropped == 0 && exporter.rejected == 2)
            #expect(exporter.failure == "the collector refused 2 of the spans: no")
            #expect(requests.filter { $0.urlText.hasSuffix("traces") }.count == 1)
        }
    }

    @Test("gives up a collector that isn't there, and says so")
    func nobody() async throws {
        try await export([{ _ in throw HTTPError(.connection, "refused", phase: .notSent) }]) { exporter, requests in
            #expect(exporter.dropped == 3 && requests.filter { $0.urlText.hasSuffix("traces") }.count == 5)
        }
    }

    @Test("keeps no more than there is room for, and sends batches of 512")
    func batches() async throws {
        let (gate, received) = (Suspension<Void>(), Locked(0))
        let collector = StubTransport { request in
            if received.withLock({
                $0 += 1; return $0 == 1
            }) {
                _ = await gate.wait()
            }
            return HTTPResponse(status: .ok, request: request)
        }
        let (exporter, client) = try exporting(to: collector)
        for _ in 0..<512 { _ = try await client.send(HTTPRequest("http://h/")) }
        await eventually { received.withLock { $0 } == 1 }
        for _ in 0..<2_058 { _ = try await client.send(HTTPRequest("http://h/")) }
        gate.resume(())
        await exporter.flush(within: .seconds(60))
        // Five batches, and the metrics.
        #expect(exporter.dropped == 10 && received.withLock { $0 } == 6)
    }

    @Test("sends metrics in their time, also where each batch is full before its own")
    func metricsUnderLoad() async throws {
        let (collector, clock) = (StubTransport.ok, TestClock())
        let (exporter, client) = try exporting(to: collector, metricsInterval: .seconds(8), clock: clock)
        func sent(_ kind: String) -> Int { collector.requests.count { $0.urlText.hasSuffix(kind) } }
        for round in 1...6 {
            for _ in 0..<512 { _ = try await client.send(HTTPRequest("http://h/")) }
            await eventually { sent("traces") == round }
            clock.advance(by: .seconds(4))
        }
        // After 8 s and after 16 s.
        #expect(sent("metrics") >= 2 && exporter.dropped == 0)
    }

    @Test("sends metrics in their time, and full batches, also where calls are made all the time")
    func callsWithoutPause() async throws {
        let (caller, calls, clock) = (Locked<HTTPClient?>(nil), Locked(0), TestClock())
        let collector = StubTransport { request in
            // A call ends while the document is on its way; not for ever.
            let number = calls.increment()
            if number <= 50 { _ = try await caller.withLock { $0 }?.send(HTTPRequest("http://h/")) }
            return HTTPResponse(status: .ok, request: request)
        }
        let (exporter, client) = try exporting(to: collector, metricsInterval: .seconds(5), clock: clock)
        caller.withLock { $0 = client }
        _ = try await client.send(HTTPRequest("http://h/"))
        await eventually { clock.nextDeadline?.offset == .seconds(5) }
        clock.advance(by: .seconds(5))
        func sent() -> [Substring] { collector.requests.map { $0.urlText.suffix(7) } }
        await eventually { sent().contains("metrics") }
        #expect(sent() == ["/traces", "metrics"])
        await exporter.flush()
        #expect(sent() == ["/traces", "metrics", "/traces", "metrics"] && exporter.dropped == 0)
        caller.withLock { $0 = nil }
    }

    @Test("counts the data points that are refused")
    func refusedPoints() async throws {
        let collector = StubTransport { request in
            HTTPResponse(status: .ok, body: .text(#"{"partialSuccess":{"rejectedDataPoints":"4"}}"#), request: request)
        }
        let (exporter, _) = try exporting(to: collector)
        exporter.metrics.drop(1)
        await exporter.flush()
        #expect(exporter.rejected == 4 && exporter.failure == "the collector refused 4 of the data points")
    }

    @Test("counts as many as a number holds, whatever a collector says")
    func refusedWithoutEnd() async throws {
        let counts = #"{"rejectedSpans":"9223372036854775807","rejectedDataPoints":"9223372036854775807"}"#
        let collector = StubTransport { request in
            HTTPResponse(status: .ok, body: .text(#"{"partialSuccess":\#(counts)}"#), request: request)
        }
        let (exporter, _) = try exporting(to: collector)
        exporter.metrics.drop(1)
        for _ in 0..<2 { await exporter.flush() }
        #expect(exporter.rejected == .max && collector.requests.count == 2)
    }

    @Test("that is released drops what it has, and counts it where that outlives it")
    func release() async throws {
        let (collector, metrics) = (StubTransport.ok, Locked<CallMetrics?>(nil))
        do {
            let (exporter, client) = try exporting(to: collector)
            metrics.withLock { $0 = exporter.metrics }
            for _ in 0..<3 { _ = try await client.send(HTTPRequest("http://h/")) }
        }
        await eventually { metrics.withLock { $0?.prometheus.contains("midstream_spans_dropped_total 3.0\n") } == true }
        #expect(collector.requests.isEmpty)
    }

    /// An exporter that has seen one call, and its collector, which answers once the gate is open.
    private func exporterOfOneCall(to gate: Gate, _ clock: TestClock) async throws -> (OpenTelemetryExporter, StubTransport) {
        let collector = StubTransport { request in
            await gate.wait()
            return HTTPResponse(status: .ok, request: request)
        }
        let (exporter, client) = try exporting(to: collector, clock: clock)
        _ = try await client.send(HTTPRequest("http://h/"))
        return (exporter, collector)
    }

    @Test("ends a flush when its time is over, and goes on with what it began")
    func flushInTime() async throws {
        let (gate, clock) = (Gate(), TestClock())
        let (exporter, collector) = try await exporterOfOneCall(to: gate, clock)
        let flush = Task { await exporter.flush(within: .seconds(2)) }
        await gate.reached()
        await eventually { clock.nextDeadline?.offset == .seconds(2) }
        clock.advance(by: .seconds(2))
        #expect(await flush.value == false)
        gate.open()
        #expect(await exporter.flush())
        #expect(exporter.dropped == 0 && exporter.failure == nil)
        #expect(collector.requests.map { $0.urlText.suffix(7) } == ["/traces", "metrics", "metrics"])
    }

    @Test("flushes in a task that is cancelled, too")
    func flushWhenCancelled() async throws {
        let (gate, clock) = (Gate(), TestClock())
        let (exporter, collector) = try await exporterOfOneCall(to: gate, clock)
        let flush = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await exporter.flush()
        }
        await gate.reached()
        gate.open()
        #expect(await flush.value)
        #expect(collector.requests.count == 2 && exporter.dropped == 0)
    }

    @Test("sends what is of all calls without the deadline of the one that flushes")
    func flushWithinACall() async throws {
        let sink = DeadlineSink()
        let exporter = OpenTelemetryExporter(
            sink, service: "shop", attributes: [:], ratio: 1, metricsInterval: .seconds(60), clock: TestClock())
        let client = testClient(configuration: .init(observers: [exporter]), transport: StubTransport.ok)
        _ = try await client.send(HTTPRequest("http://h/"))
        var position = ChainPosition()
        position.deadline = 1
        let isDone = await ChainPosition.local.withValue(position) { await exporter.flush() }
        #expect(isDone)
        #expect(sink.deadlines.withLock { $0 } == [nil, nil])
    }

    @Test("writes each document to a line of its own, also where others write to the file")
    func sharedFile() async throws {
        try await withFolder { folder in
            let path = "\(folder)/t.jsonl"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        let sink = try FileSink(path)
                        let document = #"{"from":\#(number),"text":"\#(String(repeating: "x", count: 2_000))"}"#
                        for _ in 0..<250 { _ = try await sink.send(Array(document.utf8), .traces) }
                    }
                }
                try await group.waitForAll()
            }
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            let documents = try lines.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
            for number in 0..<4 { #expect(documents.count { $0["from"] as? Int == number } == 250) }
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }

    #if os(Linux)
        @Test("writes a document to a line of its own also behind one of which there was room for a part")
        func tornLine() async {
            await #expect(processExitsWith: .success) {
                try await withFolder { folder in
                    let path = "\(folder)/t.jsonl"
                    let sink = try FileSink(path)
                    let allowed = limitFileSize(to: 3)
                    await #expect(throws: (any Error).self) { _ = try await sink.send(Array("[1,1]".utf8), .traces) }
                    limitFileSize(to: allowed)
                    for document in ["[2]", "[3]"] { _ = try await sink.send(Array(document.utf8), .traces) }
                    #expect(try String(contentsOfFile: path, encoding: .utf8) == "[1,\n[2]\n[3]\n")
                }
            }
        }
    #endif

    @Test("sends as the environment says, of each kind what is said of it alone")
    func environmentsTargets() async throws {
        let collector = StubTransport.ok
        let exporter = try #require(
            try OpenTelemetryExporter(
                over: collector,
                environment: [
                    "OTEL_SERVICE_NAME": "a", "OTEL_RESOURCE_ATTRIBUTES": "b=c%20d, e=f, service.instance.id=",
                    "OTEL_TRACES_SAMPLER_ARG": "1",
                    "OTEL_EXPORTER_OTLP_ENDPOINT": "https://h/otlp/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=S3CR3T",
                    "OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_EXPORTER_OTLP_TIMEOUT": "200000",
                    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://m/own?x=1", "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "y=z",
                    "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "",
                ]))
        let client = testClient(configuration: .init(observers: [exporter]), transport: StubTransport.ok)
        _ = try await client.send(HTTPRequest("http://h/"))
        await exporter.flush(within: .seconds(120))
        let sent = collector.requests
        #expect(sent.map(\.urlText) == ["https://h/otlp/v1/traces", "http://m/own?x=1"])
        #expect(sent.map { $0.headers["x-key"] } == ["S3CR3T", nil] && sent.map { $0.headers["y"] } == [nil, "z"])
        #expect(sent.map { $0.headers[.contentEncoding] } == [nil, "gzip"])
        let text = String(decoding: sent.first?.body.bytes ?? [], as: UTF8.self)
        #expect(text.contains("service.instance.id") && !text.contains(#""stringValue":"""#))
        for (name, value) in [("service.name", "a"), ("b", "c d"), ("e", "f")] {
            #expect(text.contains(#"{"key":"\#(name)","value":{"stringValue":"\#(value)"}}"#))
        }
        #expect(!"\(sent)".contains("S3CR3T"))
    }

    @Test("reads the environment, and refuses what it can't understand")
    func environment() throws {
        func exporter(_ environment: [String: String]) throws -> OpenTelemetryExporter? {
            try OpenTelemetryExporter(over: StubTransport.ok, environment: environment)
        }
        #expect(try exporter(["OTEL_SDK_DISABLED": "TRUE", "OTEL_TRACES_SAMPLER_ARG": "2"]) == nil)
        #expect(try exporter(["OTEL_SDK_DISABLED": "1", "OTEL_EXPORTER_OTLP_PROTOCOL": ""]) != nil)
        // The first and the last one that a ratio may take.
        let traces = try ["0", "f"].map { try #require(CallRecord.ID(String(repeating: $0, count: 32))) }
        let samplers: [(String, String, [Bool?])] = [
            ("", "", [true, true]), ("", "0.1", [true, false]), ("traceidratio", "0.1", [true, false]),
            ("parentbased_traceidratio", "0.1", [true, false]), ("always_on", "0.1", [true, true]),
            ("parentbased_always_on", "endpoint=h", [true, true]), ("always_off", "", [false, false]),
            ("parentbased_always_off", "1", [false, false]),
        ]
        for (sampler, argument, sampled) in samplers {
            let made = try exporter(["OTEL_TRACES_SAMPLER": sampler, "OTEL_TRACES_SAMPLER_ARG": argument])
            #expect(traces.map { made?.samples($0) } == sampled, "\(sampler) \(argument)")
        }
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "nowhere"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "S3CR3T"), ("OTEL_EXPORTER_OTLP_HEADERS", "api-key="),
            ("OTEL_RESOURCE_ATTRIBUTES", "a=b,S3CR3T"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=S3CR3T%0D%0Ab: c"), ("OTEL_EXPORTER_OTLP_HEADERS", "a b=S3CR3T"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zip"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
            ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://S3CR3T"),
            ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "nan"), ("OTEL_RESOURCE_ATTRIBUTES", "=b"),
            ("OTEL_TRACES_SAMPLER_ARG", "2"), ("OTEL_METRIC_EXPORT_INTERVAL", "soon"),
            ("OTEL_TRACES_SAMPLER", "parentbased_jaeger_remote"),
        ] {
            let failure = #expect(throws: OpenTelemetryExporter.InvalidVariable.self) { try exporter([name: value]) }
            #expect(failure?.name == name && failure?.description.contains("S3CR3T") == false)
        }
    }
}

/// Notes the deadline under which each document is sent.
private struct DeadlineSink: TelemetrySink {
    let deadlines = Locked<[Int64?]>([])

    func send(_ document: [UInt8], _ kind: TelemetryKind) async throws -> TelemetryRefusal? {
        deadlines.withLock { $0.append(ChainPosition.current?.deadline) }
        return nil
    }
}
