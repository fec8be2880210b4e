import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// What a call leaves in its caller's hands keeps nothing of the client alive.
@Suite("Kept messages", .leavesNothing)
struct KeptMessageTests {
    /// A transport that can be seen to be released.
    private final class Witness: HTTPTransport {
        let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse

        init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) { self.answer = answer }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await answer(request) }
    }

    private struct Kept {
        var response: HTTPResponse?
        var error: HTTPError?
        weak var client: HTTPClient?
        weak var transport: Witness?
    }

    private func kept(
        _ request: HTTPRequest = HTTPRequest("https://h/"),
        _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) async -> Kept {
        let transport = Witness(answer)
        let client = testClient(transport: transport) { ClosureRequestInterceptor { $0.note("was here") } }
        var kept = Kept(client: client, transport: transport)
        do {
            kept.response = try await client.send(request)
        } catch {
            kept.error = error as? HTTPError
        }
        return kept
    }

    @Test("a response keeps neither its client nor its transport, and its trace can still be read")
    func response() async {
        let kept = await kept { HTTPResponse(status: .ok, body: .text("x"), request: $0) }
        #expect(kept.response?.data.count == 1)
        #expect(kept.client == nil && kept.transport == nil)
        #expect(kept.response?.trace.description.contains("was here") == true)
    }

    @Test("an error and its response keep neither, and their trace can still be read")
    func error() async {
        let kept = await kept { HTTPResponse(status: .notFound, request: $0) }
        #expect(kept.error?.code == .unacceptableStatus && kept.error?.request != nil)
        #expect(kept.client == nil && kept.transport == nil)
        #expect(kept.error?.trace?.description.contains("was here") == true)
        #expect(kept.error?.response?.trace.spans.isEmpty == false)
    }

    @Test("a trace keeps no body alive")
    func trace() async throws {
        weak var body: ArrivingBody?
        let trace: Trace
        do {
            let arriving = ArrivingBody()
            body = arriving
            let request = HTTPRequest(.post, "https://h/", body: .incoming(arriving))
            trace = try await testClient(transport: StubTransport { HTTPResponse(status: .ok, request: HTTPRequest($0.urlText)) })
                .send(request).trace
        }
        #expect(body == nil && trace.spans.count == 1)
    }

    @Test("a request that was kept from an earlier call and is sent again within another is a new one")
    func keptRequest() async throws {
        let clock = TestClock()
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .seconds(5)
        configuration.clock = clock
        let earlier = try await testClient(configuration: configuration, transport: StubTransport.ok)
            .send(HTTPRequest("https://h/kept")).request
        clock.advance(by: .seconds(60))
        let stub = StubTransport.ok
        let client = testClient(configuration: configuration, transport: stub) {
            ClosureHTTPInterceptor { _, next in try await next(earlier) }
        }
        let response = try await client.send(HTTPRequest("https://h/other"))
        #expect(stub.requests.map(\.urlText) == ["https://h/kept"])
        #expect(response.trace.spans.first?.request == "GET https://h/other")
    }

    @Test(
        "a request that was kept and is sent again has the client's query items once",
        arguments: [
            ("/kept", "https://h/kept?v=2&text=a%20b"), ("/kept?v=2&q=1", "https://h/kept?v=2&q=1&text=a%20b"),
            ("/kept?q=1&v=2", "https://h/kept?q=1&v=2&text=a%20b"),
            ("/kept?vv=2&v=22", "https://h/kept?vv=2&v=22&v=2&text=a%20b"),
        ])
    func queryOfAKeptRequest(url: String, sent: String) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.query = [("v", "2"), ("text", "a b")]
        let stub = StubTransport.ok
        let client = testClient(baseURL: "https://h", configuration: configuration, transport: stub)
        var kept = try await client.send(HTTPRequest(url)).request
        _ = try await client.send(kept)
        kept.addQuery("page", "2")
        _ = try await client.send(kept)
        #expect(stub.requests.map(\.urlText) == [sent, sent, sent + "&page=2"])
    }

    @Test("an interceptor of the request that sends it again by another client isn't repeated without end")
    func sentAgainWithin() async throws {
        let stub = StubTransport.ok
        let other = testClient(transport: stub)
        var request = HTTPRequest("https://h/")
        request.interceptors = [
            // The stub keeps the request, which would keep the client, which keeps the stub.
            ClosureHTTPInterceptor { [weak other] request, next in
                _ = try await other?.send(request)
                return try await next(request)
            }
        ]
        _ = try await testClient(transport: stub).send(request)
        withExtendedLifetime(other) { #expect(stub.requests.count == 2) }
    }
}
