import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

/// What interceptors behind the arbiter say about times and retries.
@Suite("Limits that are set late", .leavesNothing, .timeLimit(.minutes(10)))
struct LateLimitTests {
    private let clock = TestClock()

    private func client(
        timeout: Duration? = nil, deadline: Duration? = nil, maxRetries: Int = 0, transport: StubTransport? = nil,
        at stage: InterceptorStage, setting change: @escaping @Sendable (inout HTTPRequest) -> Void
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        (configuration.clock, configuration.timeout, configuration.deadline) = (clock, timeout, deadline)
        configuration.maxRetries = maxRetries
        configuration.random = { 0 }
        let silent = StubTransport { request in
            try await untilCancelled()
            return HTTPResponse(status: .ok, request: request)
        }
        return testClient(baseURL: "https://h", configuration: configuration, transport: transport ?? silent) {
            ClosureRequestInterceptor(stage: .call) { [clock] _ in clock.advance(by: .seconds(4)) }
            ClosureRequestInterceptor(stage: stage) { change(&$0) }
        }
    }

    private func code(of client: HTTPClient, after time: Duration) async -> HTTPError.Code? {
        let start = clock.now.offset
        async let error = httpError { try await client.send(HTTPRequest("/")) }
        await eventually { clock.nextDeadline?.offset == start + .seconds(4) + time }
        clock.advance(by: time)
        return await error?.code
    }

    @Test(
        "A timeout limits what lies further in, and may be longer than the attempt's",
        arguments: [InterceptorStage.attempt, .exchange])
    func timeout(stage: InterceptorStage) async {
        for timeout: Duration? in [nil, .seconds(1), .seconds(60)] {
            let client = client(timeout: timeout, at: stage) { $0.timeout = .seconds(9) }
            #expect(await code(of: client, after: .seconds(9)) == .timeout)
        }
    }

    @Test("A deadline counts from the start of the call", arguments: [InterceptorStage.attempt, .exchange])
    func deadline(stage: InterceptorStage) async {
        let limited = client(deadline: .seconds(60), maxRetries: 3, at: stage) { $0.deadline = .seconds(9) }
        #expect(await code(of: limited, after: .seconds(5)) == .deadlineExceeded)
        let over = client(transport: .ok, at: stage) { $0.deadline = .seconds(3) }
        #expect(await httpError { try await over.send(HTTPRequest("/")) }?.code == .deadlineExceeded)
    }

    @Test(
        "A longer deadline than the one that holds comes too late, and the trace says so",
        arguments: [InterceptorStage.call, .attempt, .exchange])
    func longerDeadline(stage: InterceptorStage) async throws {
        let client = client(deadline: .seconds(60), transport: .ok, at: stage) { $0.deadline = .seconds(90) }
        let notes = try await client.send(HTTPRequest("/")).trace.description
        #expect(notes.contains("a deadline of 90.0 seconds came too late: 60.0 seconds holds"))
        #expect(try await client.explain(HTTPRequest("/")).deadline == .seconds(60))
        var request = HTTPRequest("/")
        request.deadline = .seconds(100)
        #expect(try await client.explain(request).deadline == .seconds(90))
    }

    @Test("A number of retries counts from the attempt on in which it is set", arguments: [InterceptorStage.attempt, .exchange])
    func retries(stage: InterceptorStage) async throws {
        let failing = StubTransport { _ in throw HTTPError(.timeout, phase: .notSent) }
        let unavailable = StubTransport(status: .serviceUnavailable)
        for (limit, most) in [(0, 2), (5, 2), (5, 0), (1, 1)] {
            for transport in [failing, unavailable] {
                let before = transport.requests.count
                let client = client(maxRetries: limit, transport: transport, at: stage) { $0.maxRetries = most }
                _ = await httpError { try await client.send(HTTPRequest("/")) }
                #expect(transport.requests.count - before == most + 1)
            }
        }
    }

    @Test(
        "A call that is allowed retries late has its share in their budget",
        arguments: [InterceptorStage.attempt, .exchange])
    func budget(stage: InterceptorStage) async throws {
        let transport = StubTransport(sequence: [.respond(200), .respond(503), .respond(200)])
        let client = client(transport: transport, at: stage) { $0.maxRetries = 1 }
        for calls in 1...2 {
            #expect(try await client.send(HTTPRequest("/")).status == .ok)
            #expect(client.retryBudget?.calls == calls)
        }
        #expect(client.retryBudget?.retries == 1)
    }

    @Test("A call that is allowed retries for each of its exchanges counts once")
    func exchanges() async throws {
        let transport = StubTransport(sequence: [.respond(302, headers: ["Location": "/new"]), .respond(200)])
        let client = client(transport: transport, at: .exchange) { $0.maxRetries = 1 }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(transport.requests.count == 2 && client.retryBudget?.calls == 1)
    }

    @Test("What another client's interceptors set in the same request doesn't hold for the call", arguments: [true, false])
    func ofAnotherClient(isAnswered: Bool) async {
        let transport = StubTransport { request in
            guard isAnswered else { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: .serviceUnavailable, request: request)
        }
        var configuration = HTTPClient.Configuration()
        (configuration.clock, configuration.timeout, configuration.maxRetries) = (clock, nil, 0)
        configuration.random = { 0 }
        var others = configuration
        others.validators = []
        let other = testClient(configuration: others, transport: transport) {
            ClosureRequestInterceptor(stage: .attempt) { $0.maxRetries = 3 }
        }
        let client = testClient(configuration: configuration, transport: StubTransport.ok) {
            ClosureHTTPInterceptor { request, _ in try await other.send(request) }
        }
        let error = await httpError { try await client.send(HTTPRequest("https://h/")) }
        #expect(error?.code == (isAnswered ? .unacceptableStatus : .connection))
        #expect(transport.requests.count == 1)
    }

    @Test("A wait that would pass such a deadline isn't begun")
    func wait() async {
        let transport = StubTransport(status: .serviceUnavailable, headers: ["Retry-After": "10"])
        let client = client(maxRetries: 3, transport: transport, at: .attempt) { $0.deadline = .seconds(9) }
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.response?.status == .serviceUnavailable)
        #expect(transport.requests.count == 1)
    }
}

/// Whether the deadline ends the reading of a streamed body.
@Suite("Deadlines of streams", .leavesNothing, .timeLimit(.minutes(10)))
struct StreamDeadlineTests {
    private let clock = TestClock()

    private func stream(client covers: Bool, request own: Bool?, late: Duration? = nil) async throws -> HTTPResponse {
        var configuration = HTTPClient.Configuration()
        (configuration.clock, configuration.timeout) = (clock, nil)
        (configuration.deadline, configuration.deadlineCoversBody) = (.seconds(60), covers)
        let chunks = AsyncStream<[UInt8]> { $0.yield([1]) }
        let stub = StubTransport { HTTPResponse(status: .ok, body: .once(chunks), request: $0) }
        var request = HTTPRequest("https://h/")
        request.deadlineCoversBody = own
        return try await testClient(configuration: configuration, transport: stub) {
            ClosureRequestInterceptor(stage: .exchange) { request in late.map { request.deadline = $0 } }
        }.stream(request)
    }

    @Test(
        "A body that is covered fails, whoever says so",
        arguments: [(false, true), (true, nil), (true, true)] as [(Bool, Bool?)], [nil, 9] as [Int?])
    func covered(by: (Bool, Bool?), late: Int?) async throws {
        let response = try await stream(client: by.0, request: by.1, late: late.map { .seconds($0) })
        let seen = Locked(0)
        let task = Task { for try await _ in response.body { seen.withLock { $0 += 1 } } }
        await eventually { seen.withLock { $0 } == 1 && clock.nextDeadline?.offset == .seconds(late ?? 60) }
        clock.advance(by: .seconds(late ?? 60))
        let error = await httpError { try await task.value }
        #expect(error?.code == .deadlineExceeded)
        #expect(error?.phase == .answered)
        #expect(await httpError { try await response.body.collect() }?.code == .deadlineExceeded)
    }

    @Test("A chunk that comes while its reader is cancelled isn't missing from what is read on")
    func cancelledReader() async throws {
        let gate = Gate()
        let arriving = Locked<[[UInt8]]>([[1], [2]])
        let stub = StubTransport { request in
            let body = HTTPBody.incoming {
                await gate.wait()
                return arriving.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            } close: {
            }
            return HTTPResponse(status: .ok, body: body, request: request)
        }
        var configuration = HTTPClient.Configuration()
        (configuration.clock, configuration.timeout) = (clock, nil)
        (configuration.deadline, configuration.deadlineCoversBody) = (.seconds(60), true)
        let response = try await testClient(configuration: configuration, transport: stub).stream(HTTPRequest("https://h/"))
        let reading = Task {
            var chunks = response.body.makeAsyncIterator()
            return try await chunks.next()
        }
        await gate.reached()
        reading.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(await httpError { try await response.body.collect() }?.code == .connectionLost)
    }

    @Test("One that isn't can be read for as long as it likes", arguments: [(false, nil), (true, false)] as [(Bool, Bool?)])
    func uncovered(by: (Bool, Bool?)) async throws {
        let response = try await stream(client: by.0, request: by.1)
        clock.advance(by: .seconds(100))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == [1])
        #expect(clock.nextDeadline == nil)
    }
}
