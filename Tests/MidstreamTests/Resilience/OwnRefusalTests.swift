import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("What a limit of somebody's own refuses", .leavesNothing, .timeLimit(.minutes(10)))
struct OwnRefusalTests {
    /// Refuses the first request.
    private struct OwnLimit: HTTPInterceptor {
        let code: HTTPError.Code
        private let hasRefused = Locked(false)

        init(_ code: HTTPError.Code) { self.code = code }

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            let isFirst = hasRefused.withLock { hasRefused in
                defer { hasRefused = true }
                return !hasRefused
            }
            if isFirst { throw HTTPError(code, phase: .notSent) }
            return try await next(request)
        }
    }

    @Test("doesn't end events", arguments: [HTTPError.Code.circuitOpen, .overloaded, .rateLimited])
    func events(code: HTTPError.Code) async throws {
        let clock = TestClock()
        var configuration = HTTPClient.Configuration()
        configuration.timeout = nil
        configuration.clock = clock
        configuration.validators = []
        configuration.random = { 1 }
        let stub = StubTransport(sequence: [
            .respond(.ok, headers: ["Content-Type": "text/event-stream"], body: "data: a\n\n"), .respond(.noContent),
        ])
        let client = testClient(baseURL: "https://api.test", configuration: configuration, transport: stub) { OwnLimit(code) }
        let causes = Locked<[HTTPError.Code?]>([])
        let source = client.events(HTTPRequest("events")) { _, _, cause in causes.withLock { $0.append(cause?.code) } }
        let (_, result) = await clock.waits(2) { try await source.reduce(into: [String]()) { $0.append($1.data) } }
        #expect(try result.get() == ["a"])
        #expect(causes.withLock { $0 } == [code, nil])
    }
}
