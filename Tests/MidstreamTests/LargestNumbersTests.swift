import Foundation
import Midstream
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

#if os(Linux)
    import MidstreamCurl
#endif

/// Numbers and times as large as their types allow, which neither trap nor make anything wait.
@Suite("The largest numbers are as good as any", .leavesNothing, .timeLimit(.minutes(10)))
struct LargestNumbersTests {
    /// More nanoseconds, and more seconds, than an Int64 has room for.
    static let durations: [Duration] = [.seconds(Int64.max), .seconds(1.6e20), .zero - .seconds(1.6e20)]

    @Test("any number of retries", arguments: [Int.max, .min])
    func retries(maximum: Int) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = maximum
        configuration.clock = TestClock()
        let client = testClient(baseURL: "http://h", configuration: configuration, transport: StubTransport.ok)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(try await client.get("/").askAgain(maximum).extractPayload().result().isEmpty)
    }

    @Test("a budget of any size", arguments: [Int.max, .min])
    func budget(reserve: Int) async throws {
        var configuration = HTTPClient.Configuration()
        for share in [Double.infinity, .nan, -1, 1e300] {
            for window in Self.durations {
                configuration.retryBudget = RetryBudget(share: share, reserve: reserve, window: window)
                let client = testClient(configuration: configuration, transport: StubTransport.ok)
                _ = try await client.send(HTTPRequest("http://h"))
                #expect(try #require(client.retryBudget).available >= 0)
            }
        }
    }

    @Test("limits of time that nobody lives to see", arguments: durations.filter { $0 > .zero })
    func limits(duration: Duration) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.timeout = duration
        configuration.deadline = duration
        configuration.maximumRetryAfter = duration
        for clock in [ContinuousClock(), TestClock()] as [any Clock<Duration>] {
            configuration.clock = clock
            let client = testClient(baseURL: "http://h", configuration: configuration, transport: StubTransport.ok)
            #expect(try await client.send(HTTPRequest("/")).status == .ok)
            #expect(try await client.get("/").deadline(duration, clock: clock).extractPayload().result().isEmpty)
        }
    }

    @Test("limits of time that are long over")
    func over() async {
        var request = HTTPRequest("http://h")
        let client = testClient(transport: StubTransport.ok)
        request.timeout = Self.durations[2]
        #expect(await httpError { try await client.send(request) }?.code == .timeout)
        request.timeout = nil
        request.deadline = Self.durations[2]
        #expect(await httpError { try await client.send(request) }?.code == .deadlineExceeded)
    }

    @Test("delays past the deadline, however long", arguments: durations.filter { $0 > .zero })
    func delays(duration: Duration) async {
        let strategies: [RetryStrategy] = [
            .delayed(duration), .custom { _ in duration }, .fibonacci(unit: duration, cap: duration),
            .exponential(base: duration, multiplier: .infinity, cap: duration),
            .exponential(base: duration, cap: duration, jitter: .decorrelated),
        ]
        for strategy in strategies {
            var configuration = HTTPClient.Configuration()
            configuration.maxRetries = .max
            configuration.deadline = .seconds(60)
            configuration.validators = [CallbackValidator { _, _ in .retry(strategy) }]
            let client = testClient(configuration: configuration, transport: StubTransport.ok)
            await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("http://h")) }
        }
    }

    @Test(
        "a delay of the task's own is waited for, and cancelled", arguments: durations.filter { $0 > .zero },
        [ContinuousClock(), SuspendingClock()] as [any Clock<Duration>])
    func taskDelay(duration: Duration, clock: any Clock<Duration>) async {
        let (waits, starts) = AsyncStream<Void>.makeStream()
        let failing = MockedTask<String> { throw HTTPError(.connection) }
        let delay: @Sendable (Int) -> Duration = { _ in
            starts.yield()
            return duration
        }
        let work = Task { try await failing.askAgain(1, delay: delay, clock: clock, when: { _ in true }).result() }
        for await _ in waits { break }
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
    }

    @Test("a group with room for any number of tasks")
    func group() async throws {
        let group = GroupTask(0..<3, concurrency: .max) { key in MockedTask { key } }
        #expect(try await group.result().count == 3)
        #expect(try await GroupTask([Int](), concurrency: .max) { key in MockedTask { key } }.result().isEmpty)
    }

    @Test("any number of pages")
    func pages() async throws {
        let client = testClient(baseURL: "http://h", transport: StubTransport.ok)
        var count = 0
        let pagination = Pagination.number(from: .max) { _ in false }
        for try await _ in client.get("/").pages(pagination, limit: .max) { count += 1 }
        #expect(count == 1)
        for try await _ in client.get("/").pages(.link(), limit: .min) { count += 1 }
        #expect(count == 1)
    }

    @Test("presigned URLs aren't good for ever", arguments: durations)
    func presigning(duration: Duration) async {
        let credentials = AWSCredentials(accessKeyID: "id", secretAccessKey: "secret")
        let signer = AWSSignerV4(credentials, region: "r", service: "s")
        let error = await httpError { try await signer.presignedURL(for: HTTPRequest("https://h"), expires: duration) }
        #expect(error?.code == .invalidRequest)
    }

    @Test("tokens that are due at any time", arguments: durations)
    func leeway(duration: Duration) {
        let endpoint = OAuthTokenEndpoint(url: "https://h", client: "app") { _ in throw CancellationError() }
        let authenticator = OAuthAuthenticator(.clientCredentials(), from: endpoint, leeway: duration)
        #expect(!authenticator.needsRefresh(OAuthToken(accessToken: "a", expires: Date() + 3_600)))
    }

    #if os(Linux)
        @Test("the libcurl transport's times and numbers", arguments: durations)
        func curl(duration: Duration) async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.enqueue(.init())
            var configuration = CurlTransport.Configuration()
            configuration.connectTimeout = duration
            configuration.idleConnectionLifetime = duration
            if duration > .zero {
                configuration.headTimeout = duration
                configuration.idleTimeout = duration
            }
            configuration.maximumConnections = .max
            configuration.maximumConnectionsPerHost = .max
            configuration.maximumDecodedRatio = .max
            configuration.eventLoops = .max
            let transport = curlTransport(configuration: configuration)
            let client = testClient(transport: transport)
            _ = try? await client.send(HTTPRequest(server.url()))
            transport.close()
        }
    #endif
}
