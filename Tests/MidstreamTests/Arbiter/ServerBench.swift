import Interception
import Midstream
import MidstreamTesting
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
        configuration.timeout = .zero
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

struct Failure: Error, Equatable {
    let reason: String
    init(_ reason: String = "broken") { self.reason = reason }
}

/// What happened, in order, noted by whoever took part.
struct Steps: Sendable {
    private let noted = Locked<[String]>([])
    var all: [String] { noted.withLock { $0 } }
    func note(_ step: String) { noted.withLock { $0.append(step) } }
}

/// The ``HTTPError`` that the work throws. Anything else is a failure of the test.
func httpError<Result>(
    sourceLocation: SourceLocation = #_sourceLocation, _ work: () async throws -> Result
) async -> HTTPError? {
    do {
        let result = try await work()
        Issue.record("expected an HTTPError, got \(result)", sourceLocation: sourceLocation)
    } catch let error as HTTPError {
        return error
    } catch {
        Issue.record("expected an HTTPError, got \(error)", sourceLocation: sourceLocation)
    }
    return nil
}
