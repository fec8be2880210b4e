import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("Resilience over sockets", .leavesNothing, .timeLimit(.minutes(10)))
struct ResilienceSocketTests {
    private let server: MockServer

    init() throws { server = try MockServer() }

    private func inFlight(_ limit: ConcurrencyLimit) -> Int? { limit.states.values.first?.inFlight }

    @Test(
        "a permit comes back when a body is read, closed, dropped, cut off, or its reader cancelled",
        arguments: [
            "read", "closed", "dropped", "cut", "cancelled",
        ])
    func permits(end: String) async throws {
        defer { server.shutdown() }
        let limit = ConcurrencyLimit(.fixed(1))
        let client = testClient(baseURL: server.url("/")) { limit }
        server.respond { _ in
            .init(
                body: .bytes([UInt8](repeating: 1, count: 1 << 20)),
                fault: end == "cut" ? .disconnect(.insideBody(afterBytes: 70_000)) : nil)
        }
        for _ in 0..<3 {
            var response: HTTPResponse? = try await client.stream(HTTPRequest("x"))
            #expect(inFlight(limit) == 1)
            switch end {
            case "read": #expect(try await response?.body.collect().count == 1 << 20)
            case "closed": response?.body.close()
            case "cut": _ = try? await response?.body.collect()
            case "cancelled":
                let body = response?.body
                let reader = Task {
                    guard let body else { return }
                    for try await _ in body { try await untilCancelled() }
                }
                reader.cancel()
                _ = await reader.result
            default: break
            }
            response = nil
            await eventually { inFlight(limit) == 0 }
        }
        #expect(inFlight(limit) == 0)
    }

    @Test("a refused connection opens the breaker, and the next call isn't sent")
    func breaker() async throws {
        server.shutdown()
        let breaker = CircuitBreaker(minimum: 3, window: .seconds(3_600), breakFor: .seconds(3_600))
        let url = try MockServer.refusedURL()
        let client = testClient { breaker }
        for _ in 0..<3 {
            #expect(await httpError { try await client.send(HTTPRequest(url)) }?.code == .connection)
        }
        let error = await httpError { try await client.send(HTTPRequest(url)) }
        #expect(error?.code == .circuitOpen && error?.message.contains("3 of 3 failed, last: connection") == true)
    }

    #if os(Linux)
        @Test("handshakes that aren't answered open the breaker and lower the limit")
        func hangs() async throws {
            server.shutdown()
            let silent = try RawServer { _ = $0.read(.max) }
            let breaker = CircuitBreaker(minimum: 3, window: .seconds(3_600), breakFor: .seconds(3_600))
            let limit = ConcurrencyLimit(.adaptive(start: 100))
            let client = testClient { [breaker, limit] as [any HTTPInterceptor] }
            var request = HTTPRequest("https://127.0.0.1:\(silent.port)/")
            request.timeout = .seconds(1)
            let hasty = request
            for _ in 0..<3 { #expect(await httpError { try await client.send(hasty) }?.code == .timeout) }
            #expect(await httpError { try await client.send(hasty) }?.code == .circuitOpen)
            #expect(limit.states.values.first?.limit ?? 100 < 100)
            await eventually { silent.accepted == 3 }
        }
    #endif

    @Test("a server's 429 with Retry-After, and its fields, are kept to")
    func quota() async throws {
        defer { server.shutdown() }
        let client = testClient(baseURL: server.url("/")) { RateLimit(maximumWait: .seconds(1)) }
        server.enqueue(.init(headers: ["RateLimit": "\"a\";r=0;t=600"]))
        _ = try await client.send(HTTPRequest("x"))
        let error = await httpError { try await client.send(HTTPRequest("x")) }
        #expect(error?.code == .rateLimited && error?.message.contains("requests wait at most 1.0 s") == true)
        #expect(server.requestCount == 1)
    }

    @Test("the time left arrives at the server")
    func deadline() async throws {
        defer { server.shutdown() }
        let client = testClient(baseURL: server.url("/")) { DeadlineHeader(milliseconds: "X-Request-Timeout-Ms") }
        server.enqueue(.init())
        var request = HTTPRequest("x")
        request.deadline = .seconds(3_600)
        _ = try await client.send(request)
        let value = try #require(server.requests.first?.headers["X-Request-Timeout-Ms"].flatMap { Int($0) })
        #expect(value > 0 && value <= 3_600_000)
    }
}
