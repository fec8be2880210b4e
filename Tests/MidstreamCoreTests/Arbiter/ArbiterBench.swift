import Interception
import MidstreamCore
import MidstreamTesting
import Testing

/// A client whose waits are on a clock that the test moves. It has no attempt timeout, which would sleep on that clock too, and
/// no budget unless the test gives it one.
struct ArbiterBench: Sendable {
    let clock = TestClock()

    func client(
        _ transport: some HTTPTransport, maxRetries: Int = 0, validators: [any HTTPValidator] = [DefaultValidator()],
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in },
        @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .zero
        configuration.clock = clock
        configuration.maxRetries = maxRetries
        configuration.validators = validators
        configuration.retryBudget = nil
        configure(&configuration)
        return HTTPClient(
            baseURL: "https://h", configuration: configuration, transport: transport, interceptors: interceptors)
    }

    /// Sends, moves the clock to the end of each of so many waits, and tells how long they were and what came of it all. A wait too
    /// many cancels the call.
    func waits(
        _ count: Int, of client: HTTPClient, _ request: HTTPRequest = HTTPRequest("/")
    ) async -> (delays: [Duration], result: Result<HTTPResponse, any Error>) {
        let work = Task { try await client.send(request) }
        // Shows the end of the work on the clock, so that a wait that never comes, or one too many, isn't waited for for ever.
        let end = TestClock.Instant(offset: .seconds(Int64.max / 2))
        let sign = Task {
            _ = await work.result
            try? await clock.sleep(until: end)
        }
        var delays: [Duration] = []
        while delays.count <= count {
            await clock.waitForSleepers(1)
            guard let next = clock.nextDeadline, next < end else { break }
            delays.append(next.offset - clock.now.offset)
            if delays.count > count { work.cancel() } else { clock.advance(to: next) }
        }
        sign.cancel()
        await sign.value
        return (delays, await work.result)
    }
}

extension Result where Failure == any Error {
    /// The failure, if it is one of the library's.
    var httpError: HTTPError? {
        if case .failure(let error as HTTPError) = self { error } else { nil }
    }
}

/// Asks for the same retry after every response with a status from 400 on, as a user's validator does.
struct AlwaysRetry: HTTPValidator {
    let strategy: RetryStrategy
    init(_ strategy: RetryStrategy = .immediate) { self.strategy = strategy }

    func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> Verdict {
        response.status.code >= 400 ? .retry(strategy) : .next
    }

    func validate(_ error: any Error, for request: HTTPRequest) async throws -> Verdict { .retry(strategy) }
}

extension HTTPResponse {
    /// What the arbiter said of itself, in order.
    var arbiterNotes: [String] { trace.arbiterNotes }
}

extension Trace {
    /// What the arbiter said of itself, in order.
    var arbiterNotes: [String] { spans.flatMap { $0.notes(of: "Arbiter") } }
}

extension Trace.Span {
    fileprivate func notes(of name: String) -> [String] {
        (self.name == name ? notes : []) + children.flatMap { $0.notes(of: name) }
    }
}
