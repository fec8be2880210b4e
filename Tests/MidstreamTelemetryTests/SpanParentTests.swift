import Foundation
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTelemetry

@Suite("Spans stand in the trace that servers are told of", .leavesNothing)
struct SpanParentTests {
    /// The spans of what a client does.
    private func spans(
        over transport: StubTransport, ratio: Double = 1, isBuffered: Bool = false, _ body: (HTTPClient) async throws -> Void
    ) async throws -> [OpenTelemetryTests.Object] {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("spans.jsonl")
        let exporter = try OpenTelemetryExporter(to: .file(file.path), service: "shop", ratio: ratio)
        let buffered = BufferedObserver(exporter)
        // Who keeps whatever comes doesn't choose for others.
        let other = BufferedObserver(CallKeeper())
        let configuration = HTTPClient.Configuration(random: { 0 }, observers: [isBuffered ? buffered : exporter, other])
        try await body(testClient(configuration: configuration, transport: transport) { TraceParentInterceptor() })
        await buffered.flush()
        await exporter.flush(within: .seconds(120))
        let lines = try withExtendedLifetime(folder) { try String(contentsOf: file, encoding: .utf8).split(separator: "\n") }
        return OpenTelemetryTests.spans(
            try lines.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? OpenTelemetryTests.Object) })
    }

    /// Fails once, and is sent once more.
    private func repeated(_ headers: HTTPHeaders = [:]) -> (StubTransport, HTTPRequest) {
        var request = HTTPRequest("http://h/", headers: headers)
        request.maxRetries = 1
        return (StubTransport(sequence: [.respond(.serviceUnavailable), .respond(.ok)]), request)
    }

    @Test("Exchanges of a trace that begins with them have no parent")
    func roots() async throws {
        let (transport, request) = repeated()
        let spans = try await spans(over: transport) { _ = try await $0.send(request) }
        let sent = transport.requests.compactMap { TraceParent($0.headers["traceparent"]) }
        #expect(sent.count == 2 && spans.compactMap { $0["spanId"] as? String } == sent.map(\.spanID))
        #expect(spans.allSatisfy { $0["traceId"] as? String == sent.first?.traceID && $0["parentSpanId"] == nil })
    }

    @Test("A field of the request's own names the parent of each exchange, and whether it is sent")
    func ownField() async throws {
        let parent = try #require(TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        let (transport, request) = repeated(["traceparent": parent.description, "tracestate": "a=1"])
        let spans = try await spans(over: transport) { _ = try await $0.send(request) }
        #expect(transport.requests.map { $0.headers["traceparent"] } == [parent.description, parent.description])
        #expect(Set(spans.compactMap { $0["spanId"] as? String } + [parent.spanID]).count == 3)
        for span in spans {
            #expect(span["traceId"] as? String == parent.traceID && span["parentSpanId"] as? String == parent.spanID)
            #expect(span["traceState"] as? String == "a=1")
        }
        let (other, unsampled) = repeated(["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"])
        let withheld = try await self.spans(over: other) { _ = try await $0.send(unsampled) }
        #expect(withheld.isEmpty)
    }

    @Test("A task's trace has the parent of its exchanges, also where the exporter is buffered", arguments: [false, true])
    func ofTask(isBuffered: Bool) async throws {
        let parent = TraceParent()
        let transport = StubTransport(status: .ok)
        let spans = try await spans(over: transport, isBuffered: isBuffered) { client in
            try await TraceParent.$current.withValue(parent) { _ = try await client.send(HTTPRequest("http://h/")) }
        }
        #expect(spans.map { $0["traceId"] as? String } == [parent.traceID])
        #expect(spans.map { $0["parentSpanId"] as? String } == [parent.spanID])
    }

    @Test(
        "Servers are told which traces a ratio leaves out, also where the exporter is buffered",
        arguments: [0, 0.5], [false, true])
    func ratio(ratio: Double, isBuffered: Bool) async throws {
        let transport = StubTransport(status: .ok)
        let spans = try await spans(over: transport, ratio: ratio, isBuffered: isBuffered) { client in
            for _ in 0..<50 { _ = try await client.send(HTTPRequest("http://h/")) }
        }
        let told = transport.requests.compactMap { TraceParent($0.headers["traceparent"]) }
        let sampled = told.filter(\.isSampled)
        #expect(told.count == 50 && sampled.count < 50)
        #expect(spans.compactMap { $0["traceId"] as? String } == sampled.map(\.traceID))
    }
}
