import Interception
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCore

/// A deadline is kept by the exchange itself where nothing else in a pipeline could need to be interrupted.
@Suite("A deadline without a task", .leavesNothing, .timeLimit(.minutes(10)))
struct PunctualCallTests {
    /// Keeps the time itself, and writes down what it was told.
    private struct Timed: ExchangeTransport {
        var keepsTime = true
        var fails = true
        var status = HTTPStatus.ok
        let limits = Locked<[Duration?]>([])
        let tasks = Locked<[Int]>([])

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request, ExchangeOptions()) }

        func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
            limits.withLock { $0.append(options.timeLimit) }
            tasks.withLock { $0.append(PunctualCallTests.task()) }
            guard fails else { return HTTPResponse(status: status, headers: ["Location": "/"], request: request) }
            if let limit = options.timeLimit, limit < .seconds(10) { try await ContinuousClock().sleep(for: limit) }
            throw HTTPError.timedOut()
        }
    }

    private struct Witness: HTTPInterceptor {
        var traits = InterceptorTraits.endsInTime
        let seen: Locked<[String]>
        let stage = InterceptorStage.exchange

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            do { return try await next(request) } catch {
                let name = (error as? HTTPError)?.code.rawValue ?? "\(type(of: error))"
                seen.withLock { $0.append(name) }
                throw error
            }
        }
    }

    fileprivate static func task() -> Int { withUnsafeCurrentTask { $0?.hashValue ?? 0 } }

    private func client(
        timeout: Duration? = nil, deadline: Duration? = nil, _ transport: Timed, validators: [any HTTPValidator]? = nil,
        redirects: RedirectPolicy = .follow(), @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration(timeout: timeout, deadline: deadline)
        if let validators { configuration.validators = validators }
        configuration.redirects = redirects
        return testClient(configuration: configuration, transport: transport, interceptors: interceptors)
    }

    @Test("its end arrives as that of any other", arguments: [true, false])
    func passes(isClients: Bool) async throws {
        let seen = Locked<[String]>([])
        let transport = Timed()
        let client = client(timeout: .seconds(50), deadline: isClients ? .seconds(2) : nil, transport) {
            Witness(seen: seen)
            if !isClients { Setting(deadline: .seconds(2)) }
        }
        let error = await httpError { try await client.send(HTTPRequest("https://h")) }
        #expect(error?.code == .deadlineExceeded && transport.tasks.withLock { $0 } == [Self.task()])
        #expect(seen.withLock { $0 } == ["deadlineExceeded"])
        #expect(transport.limits.withLock { $0 }.allSatisfy { $0.map { $0 <= .seconds(2) } ?? false })
    }

    @Test("a timeout that comes first is one")
    func timeoutFirst() async throws {
        let seen = Locked<[String]>([])
        let client = client(timeout: .seconds(2), deadline: .seconds(50), Timed()) { Witness(seen: seen) }
        #expect(await httpError { try await client.send(HTTPRequest("https://h")) }?.code == .timeout)
        #expect(seen.withLock { $0 } == ["timeout"])
    }

    @Test("a transport's own limit is no deadline")
    func otherLimit() async throws {
        let client = client(deadline: .seconds(50), Timed())
        #expect(await httpError { try await client.send(HTTPRequest("https://h")) }?.code == .timeout)
    }

    @Test("one that is over sends nothing", arguments: [true, false])
    func overBefore(isClients: Bool) async throws {
        let transport = Timed()
        let seen = Locked<[String]>([])
        let client = client(deadline: isClients ? .zero : nil, transport) {
            Witness(seen: seen)
            if !isClients { Setting(deadline: .zero) }
        }
        #expect(await httpError { try await client.send(HTTPRequest("https://h")) }?.code == .deadlineExceeded)
        #expect(transport.limits.withLock { $0.isEmpty } && seen.withLock { $0.isEmpty })
    }

    @Test("whatever somebody else has written is interrupted by a task", arguments: 0..<8)
    func needsTask(kind: Int) async throws {
        let transport = Timed(keepsTime: kind != 0, fails: false, status: kind == 2 || kind == 5 ? .found : .ok)
        let seen = Locked<[String]>([])
        let here = Self.task()
        let tasks = Locked<[Int]>([])
        let decide: @Sendable (HTTPRequest, HTTPResponse) async throws -> HTTPRequest? = { _, _ in
            tasks.withLock { $0.append(Self.task()) }
            return nil
        }
        let validator = CallbackValidator { _, _ in
            tasks.withLock { $0.append(Self.task()) }
            return .next
        }
        let interceptor = ClosureRequestInterceptor { _ in
            await Task.yield()
            tasks.withLock { $0.append(Self.task()) }
        }
        var request = HTTPRequest("https://h")
        switch kind {
        case 1: request.validators = [validator]
        case 2: request.redirects = .custom(decide)
        case 3: request.interceptors = [interceptor]
        default: break
        }
        request.deadline = .seconds(50)
        let client = client(
            transport, validators: kind == 4 ? [validator] : nil, redirects: kind == 5 ? .custom(decide) : .follow()
        ) {
            if kind == 6 { interceptor }
            if kind == 7 { Witness(traits: [], seen: seen) }
        }
        _ = try await client.send(request)
        let others = tasks.withLock { $0 } + (kind == 2 || kind == 5 ? [] : transport.tasks.withLock { $0 })
        #expect(!others.contains(here) && transport.tasks.withLock { $0.count } == 1)
    }

    @Test("a closure that can't wait needs no task", arguments: [true, false])
    func synchronous(isResponse: Bool) async throws {
        let transport = Timed(keepsTime: true, fails: false)
        let here = Self.task()
        let tasks = Locked<[Int]>([])
        var request = HTTPRequest("https://h")
        request.deadline = .seconds(50)
        let client = client(transport) {
            if isResponse {
                ClosureResponseInterceptor { _ in tasks.withLock { $0.append(Self.task()) } }
            } else {
                ClosureRequestInterceptor { _ in tasks.withLock { $0.append(Self.task()) } }
            }
        }
        _ = try await client.send(request)
        #expect(tasks.withLock { $0 } == [here] && transport.tasks.withLock { $0 } == [here])
    }

    @Test("with no limit at all it isn't told of one")
    func unlimited() async throws {
        let transport = Timed(fails: false)
        _ = try await client(transport).send(HTTPRequest("https://h"))
        #expect(transport.limits.withLock { $0 } == [nil] && transport.tasks.withLock { $0 } == [Self.task()])
    }

    private struct Setting: HTTPInterceptor {
        let traits = InterceptorTraits.endsInTime
        let deadline: Duration
        let stage = InterceptorStage.call

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            var request = request
            request.deadline = deadline
            return try await next(request)
        }
    }
}

@Suite("Work whose time is bounded", .leavesNothing, .timeLimit(.minutes(10)))
struct TimedWorkTests {
    /// Reports whoever waits on it.
    private struct Untouchable: Clock {
        private let standing = TestClock()
        var now: TestClock.Instant { standing.now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
            Issue.record("somebody waits on the clock")
        }
    }

    @Test("what ends at once has no timer")
    func noTimer() async throws {
        let limit = TimeLimit(.seconds(50), on: Untouchable())
        #expect(try await limit.run(error: { _ in .timedOut() }) { 1 } == 1)
        await #expect(throws: HTTPError.self) { try await limit.run(error: { _ in .timedOut() }) { throw HTTPError(.tls) } }
    }

    @Test("what took too long without waiting took too long")
    func tooLongAtOnce() async throws {
        let clock = TestClock()
        let limit = TimeLimit(.seconds(5), on: clock)
        await #expect(throws: HTTPError.self) {
            try await limit.run(error: { _ in .timedOut() }) { clock.advance(by: .seconds(5)) }
        }
        try await limit.run(error: { _ in .timedOut() }) { clock.advance(by: .seconds(4)) }
    }

    @Test("what had to be waited for by somebody who is cancelled is of no use, even where it doesn't notice")
    func cancelled() async throws {
        let gate = Gate()
        let isThere = Gate()
        let caller = Task {
            try await TimeLimit(.seconds(50), on: TestClock()).run(error: { _ in .timedOut() }) {
                isThere.open()
                await gate.wait()
                return 1
            }
        }
        await isThere.wait()
        caller.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await caller.value }
    }
}
