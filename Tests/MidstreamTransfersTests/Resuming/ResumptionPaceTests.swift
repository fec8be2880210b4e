import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("What a transfer goes on after", .leavesNothing, .timeLimit(.minutes(10)))
struct ResumptionPaceTests {
    /// Closes a breaker once it has refused.
    private struct Closing: HTTPInterceptor {
        let breaker: CircuitBreaker

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            do { return try await next(request) } catch let error as HTTPError where error.code == .circuitOpen {
                breaker.close()
                throw error
            }
        }
    }

    @Test("A download that a breaker keeps from its rest asks again")
    func breaker() async throws {
        let content = FileServer.content(100_000)
        let server = try FileServer(content)
        let folder = try TemporaryFolder()
        let breaker = CircuitBreaker()
        server.cut(50_000)
        server.next({ _ in breaker.isolate() })
        let client = server.client {
            Closing(breaker: breaker)
            breaker
        }
        try await client.download(HTTPRequest(server.url), to: folder.target)
        #expect(folder.content == content)
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=50000-"])
    }

    @Test("What fails since the transport has been closed isn't asked for again")
    func closedTransport() {
        let failure = HTTPError(.connection, phase: .notSent)
        #expect(failure.mayPass)
        #expect(!failure.forGood.mayPass)
    }
}
