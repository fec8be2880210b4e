import MidstreamCore
import MidstreamObservability
import MidstreamTesting
import TestSupport
import Testing

@Suite("Requests say which trace they belong to", .leavesNothing)
struct TraceParentTests {
    private static let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func sent(_ count: Int = 1, _ change: (inout HTTPRequest) -> Void = { _ in }) async throws -> [HTTPHeaders] {
        let replies: [StubTransport.Reply] =
            (1..<count).map { _ in .respond(.found, headers: [.location: "/again"]) } + [.respond(.ok)]
        let stub = StubTransport(sequence: replies)
        var request = HTTPRequest("https://h/")
        change(&request)
        _ = try await testClient(transport: stub) { .traceparent }.send(request)
        return stub.requests.map(\.headers)
    }

    @Test("in the form of the recommendation")
    func form() throws {
        let parent = try #require(TraceParent(Self.text))
        #expect(parent.traceID == "0af7651916cd43dd8448eb211c80319c" && parent.spanID == "b7ad6b7169203331" && parent.isSampled)
        #expect("\(parent)" == Self.text)
        #expect(TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")?.isSampled == false)
        #expect(TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-fe")?.isSampled == false)
        #expect(TraceParent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more").map { "\($0)" } == Self.text)
        #expect(TraceParent(Self.text, state: "a=1,b=2")?.state == "a=1,b=2")
        #expect(TraceParent(Self.text, state: "a=1\r\nX: y")?.state == nil)
    }

    @Test(
        "What isn't one is refused",
        arguments: [
            nil, "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x", "ä0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        ])
    func malformed(text: String?) { #expect(TraceParent(text) == nil) }

    @Test("A state that is too long loses its largest members, then its last")
    func longState() throws {
        let many = (0..<40).map { "k\($0)=v" }
        #expect(TraceParent(Self.text, state: many.joined(separator: ","))?.state == many.prefix(32).joined(separator: ","))
        let large = "l=" + String(repeating: "x", count: 200)
        let long = (0..<5).map { "m\($0)=" + String(repeating: "y", count: 100) }
        let state = try #require(TraceParent(Self.text, state: ([large] + long).joined(separator: ","))?.state)
        #expect(state == long.prefix(4).joined(separator: ","))
        #expect(TraceParent(Self.text, state: String(repeating: "z", count: 513))?.state == nil)
    }

    @Test("Only the origins that are named get it, by a redirect as well")
    func origins() async throws {
        let stub = StubTransport(sequence: [.respond(.found, headers: [.location: "https://other/"]), .respond(.ok)])
        let client = testClient(transport: stub) { TraceParentInterceptor(propagatesTo: ["https://h/any"]) }
        _ = try await client.send(HTTPRequest("https://h/"))
        #expect(stub.requests.map { $0.headers.contains("traceparent") } == [true, false])
    }

    @Test func newOnesDiffer() {
        let traces = (0..<1_000).map { _ in TraceParent() }
        #expect(Set(traces.map(\.traceID)).count == 1_000 && Set(traces.map(\.spanID)).count == 1_000)
        #expect(traces.allSatisfy { TraceParent("\($0)") == $0 })
    }

    @Test("Each exchange of a call is a span of one trace")
    func exchanges() async throws {
        let spans = try await sent(3).compactMap { TraceParent($0["traceparent"]) }
        #expect(spans.count == 3 && Set(spans.map(\.traceID)).count == 1 && Set(spans.map(\.spanID)).count == 3)
        let other = try await sent().compactMap { TraceParent($0["traceparent"]) }
        #expect(other.first?.traceID != spans.first?.traceID)
    }

    @Test("The request's trace wins over the task's, and a field of its own over both")
    func sources() async throws {
        let mine = TraceParent(Self.text, state: "a=1")
        let ofTask = TraceParent(isSampled: false)
        try await TraceParent.$current.withValue(ofTask) {
            let inherited = try await sent()
            #expect(TraceParent(inherited[0]["traceparent"])?.traceID == ofTask.traceID)
            #expect(TraceParent(inherited[0]["traceparent"])?.isSampled == false)
            let set = try await sent { $0.traceParent = mine }
            #expect(TraceParent(set[0]["traceparent"])?.traceID == mine?.traceID && set[0]["tracestate"] == "a=1")
            #expect(TraceParent(set[0]["traceparent"])?.spanID != mine?.spanID)
            #expect(try await sent { $0.headers["traceparent"] = "own" }[0]["traceparent"] == "own")
        }
    }
}
