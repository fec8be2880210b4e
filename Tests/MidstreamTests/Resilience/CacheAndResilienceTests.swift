import Foundation
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("Resilience inside the cache", .leavesNothing, .timeLimit(.minutes(10)))
struct CacheAndResilienceTests {
    @Test("a fresh hit is served while the breaker is open, and costs neither quota nor permit")
    func hit() async throws {
        let stub = StubTransport { request in
            request.urlText.hasSuffix("/cached")
                ? HTTPResponse(
                    status: 200, headers: ["Cache-Control": "max-age=600", "Date": "Sun, 06 Nov 2033 08:49:37 GMT"],
                    body: .text("kept"), request: request)
                : HTTPResponse(status: 500, request: request)
        }
        let limit = ConcurrencyLimit()
        let breaker = CircuitBreaker(minimum: 2)
        let client = testClient(baseURL: "https://h", transport: stub) {
            RateLimit(perSecond: 0.001, burst: 5, maximumWait: .zero)
            limit
            breaker
            CacheInterceptor()
        }
        _ = try await client.send(HTTPRequest("/cached"))
        for _ in 0..<4 { _ = try? await client.send(HTTPRequest("/bad")) }
        #expect(breaker.state(of: "https://h").name == "open")
        for _ in 0..<20 {
            let response = try await client.send(HTTPRequest("/cached"))
            #expect(response.data == .init("kept".utf8))
        }
        #expect(await httpError { try await client.send(HTTPRequest("/other")) }?.code == .circuitOpen)
        breaker.close()
        // Nothing of the hits has been taken from the quota: one for the first, and two or three for those that failed.
        #expect(await httpError { try await client.send(HTTPRequest("/bad")) }?.code == .unacceptableStatus)
        #expect(limit.states["https://h"]?.inFlight == 0)
    }
}
