import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

/// A server on a real socket and clients of it by the platform's transport, whose waits are on a clock that the test moves.
struct ServerBench: Sendable {
    let server: MockServer
    let clock = TestClock()

    init() throws { server = try MockServer() }

    func client(
        maxRetries: Int = 0, validators: [any HTTPValidator] = [DefaultValidator()],
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in },
        @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.timeout = nil
        configuration.clock = clock
        configuration.maxRetries = maxRetries
        configuration.validators = validators
        configure(&configuration)
        return HTTPClient(baseURL: server.url("/api"), configuration: configuration, interceptors: interceptors)
    }

    /// Sends, moves the clock to the end of each of so many waits, and tells how long they were and what came of it all. A wait too
    /// many cancels the call.
    func waits(
        _ count: Int, of client: HTTPClient, _ request: HTTPRequest = HTTPRequest("x")
    ) async -> (delays: [Duration], result: Result<HTTPResponse, any Error>) {
        await clock.waits(count) { try await client.send(request) }
    }
}
