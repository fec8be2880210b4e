package import MidstreamCore
package import MidstreamTesting

/// Clients whose waits are on a clock that the test moves, and without jitter. They have no attempt timeout, which would sleep on that clock too, and
/// no budget unless the test gives them one.
package struct ArbiterBench: Sendable {
    package let clock = TestClock()
    private let server: MockServer?

    /// - Parameter server: Whom clients without a transport of their own talk to, by the platform's.
    package init(on server: MockServer? = nil) { self.server = server }

    package func client(
        _ transport: (any HTTPTransport)? = nil, maxRetries: Int? = nil, validators: [any HTTPValidator] = [DefaultValidator()],
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in },
        @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.timeout = nil
        configuration.clock = clock
        // The longest that jitter makes of a delay is the delay itself.
        configuration.random = { 1 }
        if let maxRetries { configuration.maxRetries = maxRetries }
        configuration.validators = validators
        configuration.retryBudget = nil
        configure(&configuration)
        return testClient(
            baseURL: server?.url("/api") ?? "https://h", configuration: configuration, transport: transport,
            interceptors: interceptors)
    }

    /// Sends, moves the clock to the end of each of so many waits, and tells how long they were and what came of it all. A wait too
    /// many cancels the call.
    ///
    /// - Parameter request: `x` on the server, or else `/`, by default.
    package func waits(
        _ count: Int, of client: HTTPClient, _ request: HTTPRequest? = nil
    ) async -> (delays: [Duration], result: Result<HTTPResponse, any Error>) {
        let request = request ?? HTTPRequest(server == nil ? "/" : "x")
        return await clock.waits(count) { try await client.send(request) }
    }
}

/// Asks for the same retry after every response with a status from 400 on, as a user's validator does.
package struct AlwaysRetry: HTTPValidator {
    package let strategy: RetryStrategy
    package init(_ strategy: RetryStrategy = .immediate) { self.strategy = strategy }

    package func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
        response.status.code >= 400 ? .retry(strategy) : .next
    }

    package func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict { .retry(strategy) }
}

extension HTTPResponse {
    /// What the arbiter said of itself, in order.
    package var arbiterNotes: [String] { trace.arbiterNotes }
}

extension Trace {
    /// All spans, each before those within it.
    package var allSpans: [Span] { spans.flatMap(\.andInner) }

    /// The notes of each span that has some, in a line each: `Name: note`.
    package var signedNotes: [String] { allSpans.flatMap { span in span.notes.map { "\(span.name): \($0)" } } }

    /// What the arbiter said of itself, in order.
    package var arbiterNotes: [String] { allSpans.filter { $0.name == "Arbiter" }.flatMap(\.notes) }
}

extension Trace.Span {
    fileprivate var andInner: [Trace.Span] { [self] + children.flatMap(\.andInner) }
}
