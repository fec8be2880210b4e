import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Timeouts, deadlines and cancellation", .leavesNothing)
struct TimeAndCancellationTests {
    private let clock = TestClock()
    private let request = HTTPRequest("https://h")

    private func client(
        timeout: Duration? = nil, deadline: Duration? = nil, transport: StubTransport = .silent,
        @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.timeout = timeout
        configuration.deadline = deadline
        configuration.clock = clock
        return testClient(configuration: configuration, transport: transport, interceptors: interceptors)
    }

    /// Sends, and moves the clock once so many tasks sleep on it.
    private func error(
        of client: HTTPClient, _ request: HTTPRequest? = nil, sleepers: Int = 1, advancingBy time: Duration
    ) async -> HTTPError? {
        let request = request ?? self.request
        async let error = httpError { try await client.send(request) }
        await clock.waitForSleepers(sleepers)
        clock.advance(by: time)
        return await error
    }

    @Test("an attempt that takes longer than its timeout ends with .timeout, though the server never answers")
    func timeout() async {
        let error = await error(of: client(timeout: .seconds(5)), advancingBy: .seconds(5))
        #expect(error?.code == .timeout && error?.phase == .maybeProcessed)
        #expect(error?.request?.id == request.id && error?.trace != nil)
        #expect(clock.sleepers == 0)
    }

    @Test("a request's timeout wins over the client's")
    func requestTimeout() async {
        var request = request
        request.timeout = .seconds(2)
        #expect(await error(of: client(timeout: .seconds(50)), request, advancingBy: .seconds(2))?.code == .timeout)
    }

    @Test("a timeout covers all exchanges of the attempt, redirects included")
    func timeoutAcrossRedirects() async {
        let clock = clock
        let stub = StubTransport { request in
            try await clock.sleep(for: .seconds(3))
            return HTTPResponse(status: .found, headers: [.location: "/again"], request: request)
        }
        let client = client(timeout: .seconds(5), transport: stub)
        async let error = httpError { try await client.send(request) }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(3))
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(2))
        #expect(await error?.code == .timeout)
        #expect(stub.requests.count == 2)
    }

    @Test("an attempt whose time is over isn't sent")
    func noTimeLeft() async {
        let clock = clock
        let stub = StubTransport.ok
        let client = client(timeout: .seconds(5), transport: stub) {
            ClosureRequestInterceptor { _ in clock.advance(by: .seconds(6)) }
        }
        let error = await httpError { try await client.send(request) }
        #expect(error?.code == .timeout && error?.phase == .notSent)
        #expect(stub.requests.isEmpty)
    }

    @Test("a timeout covers the buffering of the body")
    func timeoutOfBody() async {
        let stub = StubTransport { request in
            let endless = AsyncThrowingStream<[UInt8], any Error> {
                try await untilCancelled(); return nil
            }
            return HTTPResponse(status: .ok, body: .once(endless), request: request)
        }
        #expect(await error(of: client(timeout: .seconds(5), transport: stub), advancingBy: .seconds(5))?.code == .timeout)
    }

    @Test(
        "a call that takes longer than its deadline ends with .deadlineExceeded, wherever it waits",
        arguments: InterceptorStage.allCases)
    func deadline(stage: InterceptorStage) async {
        let waiting = client(deadline: .seconds(9), transport: .ok) {
            ClosureRequestInterceptor(stage: stage) { _ in try await untilCancelled() }
        }
        let inInterceptor = await error(of: waiting, advancingBy: .seconds(9))
        #expect(inInterceptor?.code == .deadlineExceeded && inInterceptor?.request?.id == request.id)
        let inTransport = await error(of: client(deadline: .seconds(9)), advancingBy: .seconds(9))
        #expect(inTransport?.code == .deadlineExceeded && inTransport?.trace?.spans.isEmpty == false)
    }

    @Test("a request's deadline wins over the client's, and the earlier of timeout and deadline ends the call")
    func deadlineOrTimeout() async {
        var request = request
        request.deadline = .seconds(2)
        let client = client(timeout: .seconds(3), deadline: .seconds(50))
        #expect(await error(of: client, request, advancingBy: .seconds(2))?.code == .deadlineExceeded)
        request.deadline = .seconds(4)
        #expect(await error(of: client, request, advancingBy: .seconds(3))?.code == .timeout)
    }

    @Test("a limit of zero or less is over at once", arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func overAtOnce(limit: Duration) async throws {
        let stub = StubTransport.ok
        #expect(await httpError { try await client(timeout: limit, transport: stub).send(request) }?.code == .timeout)
        #expect(await httpError { try await client(deadline: limit, transport: stub).send(request) }?.code == .deadlineExceeded)
        let late = HTTPRequest("https://h").limited(to: limit)
        #expect(await httpError { try await client(transport: stub).send(late) }?.code == .deadlineExceeded)
        #expect(clock.sleepers == 0 && stub.requests.isEmpty)
    }

    @Test("a limit that is longer than anything can last is as good as none")
    func endless() async throws {
        let client = client(timeout: .seconds(Int64.max), deadline: .seconds(Int64.max), transport: .ok)
        #expect(try await client.send(request).status == .ok)
    }

    @Test("an answer in time leaves nothing waiting on the clock")
    func inTime() async throws {
        #expect(try await client(timeout: .seconds(1), deadline: .seconds(1), transport: .ok).send(request).status == .ok)
        #expect(clock.sleepers == 0)
    }

    @Test("cancelling surfaces as CancellationError, unwrapped, whatever limits there are", arguments: [false, true])
    func cancellation(isLimited: Bool) async {
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let stub = StubTransport { request in
            isStarted.yield()
            try await untilCancelled()
            return HTTPResponse(status: .ok, request: request)
        }
        let client = client(timeout: isLimited ? .seconds(1) : nil, deadline: isLimited ? .seconds(1) : nil, transport: stub)
        for isStreamed in [false, true] {
            let task = Task { isStreamed ? try await client.stream(request) : try await client.send(request) }
            for await _ in started.prefix(1) {}
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(clock.sleepers == 0)
    }

    @Test("a call that is cancelled before it begins sends nothing")
    func cancelledBefore() async {
        let stub = StubTransport.ok
        let client = client(transport: stub)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(request)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.requests.isEmpty)
    }

    @Test("an interceptor that doesn't notice a cancellation is stopped before the wire")
    func cancelledOnTheWay() async {
        struct Careless: HTTPTransport {
            let steps = Steps()
            func send(_ request: HTTPRequest) async throws -> HTTPResponse {
                steps.note("sent")
                return HTTPResponse(status: .ok, request: request)
            }
        }
        let transport = Careless()
        let client = testClient(transport: transport) {
            ClosureRequestInterceptor { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        let task = Task { try await client.send(request) }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.steps.all.isEmpty)
    }

    @Test("limits hold on the system's clock too, one alarm serving many calls")
    func systemClock() async {
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .milliseconds(20)
        let client = testClient(configuration: configuration, transport: StubTransport.silent)
        await withTaskGroup(of: HTTPError?.self) { group in
            for _ in 0..<50 { group.addTask { [request] in await httpError { try await client.send(request) } } }
            for await error in group { #expect(error?.code == .timeout) }
        }
    }

    @Test("a long limit on the system's clock is left behind by a call that ends before it, and cancellation passes it")
    func unusedSystemLimit() async throws {
        let client = testClient(transport: StubTransport.ok)
        for _ in 0..<100 { #expect(try await client.send(request).status == .ok) }
        let silent = testClient(transport: StubTransport.silent)
        let call = Task { [request] in try await silent.send(request) }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test("a request that an interceptor makes anew still belongs to the call")
    func freshRequest() async throws {
        let client = client(timeout: .seconds(5)) {
            ClosureHTTPInterceptor("Detour") { _, next in try await next(HTTPRequest("https://elsewhere")) }
        }
        let error = await error(of: client, advancingBy: .seconds(5))
        #expect(error?.code == .timeout)
        #expect(error?.trace.map { "\($0)" }?.contains("url: https://elsewhere") == true)
    }
}

extension StubTransport {
    /// Never answers.
    fileprivate static var silent: StubTransport {
        StubTransport { request in
            try await untilCancelled()
            return HTTPResponse(status: .ok, request: request)
        }
    }
}

extension HTTPRequest {
    fileprivate func limited(to deadline: Duration) -> HTTPRequest {
        var request = self
        request.deadline = deadline
        return request
    }
}
