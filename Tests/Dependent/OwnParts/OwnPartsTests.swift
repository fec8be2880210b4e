import Midstream
import MidstreamTesting
import Testing

@Suite("Parts that know the public API alone", .timeLimit(.minutes(10)))
struct OwnPartsTests {
    /// Answers to `/` at once, and to anything else never.
    private let stub = StubTransport { request in
        if !request.urlText.hasSuffix("/") { try await Task.sleep(for: .seconds(3_600)) }
        return HTTPResponse(status: .ok, body: .text("answer"), request: request)
    }

    private func code(of request: HTTPRequest, by client: HTTPClient) async -> HTTPError.Code? {
        do { _ = try await client.send(request) } catch { return (error as? HTTPError)?.code }
        return nil
    }

    @Test("the queue of a limit ends by the deadline, and its permits come back")
    func limit() async throws {
        let limit = OwnLimit(1)
        let client = HTTPClient(transport: stub) { limit }
        let first = Task { try await client.send(HTTPRequest("https://h/slow")) }
        while limit.state.free > 0 { await Task.yield() }
        var hasty = HTTPRequest("https://h/")
        hasty.deadline = .milliseconds(50)
        #expect(await code(of: hasty, by: client) == .deadlineExceeded)
        #expect(limit.state.free == 0 && limit.state.waiting == 0)
        let third = Task { try await client.send(HTTPRequest("https://h/")) }
        while limit.state.waiting == 0 { await Task.yield() }
        first.cancel()
        let trace = try await third.value.trace
        #expect("\(trace)".contains("waited for a permit"))
        #expect(limit.state.free == 1 && limit.state.waiting == 0)
    }

    @Test("a permit is held until a streamed body ends")
    func body() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: .text("streamed")) }
        let limit = OwnLimit(1)
        let client = HTTPClient { limit }
        let response = try await client.stream(HTTPRequest(server.url()))
        #expect(limit.state.free == 0)
        #expect(try await response.body.collect() == Array("streamed".utf8))
        #expect(limit.state.free == 1)
    }

    @Test("what was stored answers")
    func cache() async throws {
        let client = HTTPClient(transport: stub) { OwnCache() }
        for _ in 0..<3 { #expect(try await client.send(HTTPRequest("https://h/")).body.bytes == Array("answer".utf8)) }
        #expect(stub.requests.count == 1)
    }

    @Test("the second of a hedge wins, and the deadline ends both")
    func hedge() async throws {
        let slow = StubTransport { [stub] request in
            // Of two requests the first is slow.
            try await stub.send(stub.requests.isEmpty ? HTTPRequest("https://h/slow") : request)
        }
        let client = HTTPClient(transport: slow) { OwnHedge(after: .milliseconds(1)) }
        let trace = try await client.send(HTTPRequest("https://h/")).trace
        #expect("\(trace)".contains("a second exchange"))
        var hasty = HTTPRequest("https://h/slow")
        hasty.deadline = .milliseconds(50)
        #expect(await code(of: hasty, by: client) == .deadlineExceeded)
    }

    @Test("they keep the laws")
    func laws() async throws {
        try await assertInterceptorLaws { OwnLimit(200) }
        try await assertInterceptorLaws([.endsInTime]) { OwnLimit(1) }
        try await assertInterceptorLaws { OwnHedge(after: .seconds(3_600)) }
        // All requests of that law have one URL.
        try await assertInterceptorLaws(Set(InterceptorLaw.allCases).subtracting([.isReusableConcurrently])) { OwnCache() }
    }
}
