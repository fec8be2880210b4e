import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("Closures that tell a request's key", .leavesNothing, .timeLimit(.minutes(10)))
struct ResilienceScopeTests {
    private static let scope = ResilienceScope.key { request in
        request.note("asked for the key")
        return "k"
    }

    /// Talks to nobody: an outer interceptor that is told its position would take notes which aren't its own.
    private let outer = ClosureHTTPInterceptor("Outer") { request, next in try await next(request) }

    @Test(
        "what they note is put down to the part that has asked",
        arguments: [
            ConcurrencyLimit(scope: scope), CircuitBreaker(scope: scope), RateLimit(scope: scope), Hedging(scope: scope),
        ] as [any HTTPInterceptor])
    func notes(_ part: any HTTPInterceptor) async throws {
        let client = testClient(transport: StubTransport.ok) {
            outer.at(.exchange)
            part
        }
        let trace = try await client.send(HTTPRequest("https://h/")).trace
        #expect(trace.signedNotes.contains("\(type(of: part)): asked for the key"))
    }

    @Test("so is what a breaker's listener notes")
    func listener() async throws {
        let request = HTTPRequest("https://h/")
        let breaker = CircuitBreaker(minimum: 1) { _ in request.note("heard of it") }
        let client = testClient(transport: StubTransport { HTTPResponse(status: 500, request: $0) }) {
            outer.at(.exchange)
            breaker
        }
        let error = try #require(await httpError { try await client.send(request) })
        #expect(error.trace?.signedNotes.contains("CircuitBreaker: heard of it") == true)
    }
}
