import Interception
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// What keeps a connection from being made for a time, without a network.
@Suite("Events in an outage", .leavesNothing, .timeLimit(.minutes(10)))
struct EventOutageTests {
    private let clock = TestClock()

    private func client(
        _ transport: StubTransport, @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        let configuration = HTTPClient.Configuration(timeout: nil, validators: [], clock: clock, random: { 1 })
        return testClient(
            baseURL: "https://api.test", configuration: configuration, transport: transport, interceptors: interceptors)
    }

    private static let event = StubTransport.Reply.respond(
        .ok, headers: ["Content-Type": "text/event-stream"], body: "data: a\n\n")
    private static let end = StubTransport.Reply.respond(.noContent)

    /// What ended the connections, when the data of all events is "a".
    private func causes(
        of client: HTTPClient, waits: Int, _ onReconnect: @escaping @Sendable () -> Void = {}
    ) async throws -> [HTTPError.Code?] {
        let causes = Locked<[HTTPError.Code?]>([])
        let source = client.events(HTTPRequest("events")) { _, _, cause in
            causes.withLock { $0.append(cause?.code) }
            onReconnect()
        }
        let (_, result) = await clock.waits(waits) { try await source.all().map(\.data) }
        #expect(try result.get() == ["a"])
        return causes.withLock { $0 }
    }

    @Test("What a breaker refuses is asked for again")
    func breaker() async throws {
        let breaker = CircuitBreaker()
        breaker.isolate()
        let client = client(StubTransport(sequence: [Self.event, Self.end])) { breaker }
        #expect(try await causes(of: client, waits: 2) { breaker.close() } == [.circuitOpen, nil])
    }

    @Test("… and what a quota refuses")
    func quota() async throws {
        let client = client(StubTransport(sequence: [.respond(.ok), Self.event, Self.end])) {
            RateLimit(perSecond: 1, burst: 1, maximumWait: .zero)
        }
        _ = try await client.send(HTTPRequest("other"))
        #expect(try await causes(of: client, waits: 2) == [.rateLimited, nil])
    }

    @Test("… and a fallback doesn't answer that there is no more")
    func fallback() async throws {
        let breaker = CircuitBreaker()
        breaker.isolate()
        let client = client(StubTransport(sequence: [Self.event, Self.end])) {
            breaker
            Fallback { request, _ in HTTPResponse(status: .noContent, request: request) }
        }
        #expect(try await causes(of: client, waits: 2) { breaker.close() } == [.circuitOpen, nil])
    }

    /// Gives a token after these failures.
    private struct Issuer: Authenticator {
        let failures: Locked<[any Error]>

        func apply(_ credential: Int, to request: inout HTTPRequest) async throws {}

        func refresh(_ credential: Int?) async throws -> Int {
            if let failure = failures.withLock({ $0.popLast() }) { throw failure }
            return 1
        }
    }

    private struct Later: PostponedRefresh { let retryAfter = Duration.seconds(1) }

    @Test("… and what has no token for a time", arguments: [true, false])
    func token(isPostponed: Bool) async throws {
        let failure: any Error = isPostponed ? Later() : HTTPError(.nameResolution, phase: .notSent)
        let issuer = Issuer(failures: Locked([failure]))
        let client = client(StubTransport(sequence: [Self.event, Self.end])) {
            AuthenticationInterceptor(issuer, refreshTimeout: nil, clock: clock)
        }
        #expect(try await causes(of: client, waits: 2) == [.authentication, nil])
    }

    @Test("What isn't answered by the deadline of one call is asked for again")
    func deadlineOfOneCall() async throws {
        let count = Locked(0)
        let transport = StubTransport { request in
            let number = count.increment()
            if number == 1 { try await untilCancelled() }
            let head: HTTPHeaders = ["Content-Type": "text/event-stream"]
            return number == 2
                ? HTTPResponse(status: .ok, headers: head, body: "data: a\n\n", request: request)
                : HTTPResponse(status: .noContent, request: request)
        }
        let client = client(transport) { Resilience.standard(timeout: .seconds(60), deadline: .seconds(30)) }
        let causes = Locked<[HTTPError.Code?]>([])
        let source = client.events(HTTPRequest("events")) { _, _, cause in causes.withLock { $0.append(cause?.code) } }
        let task = Task { try await source.all().map(\.data) }
        // The deadline, once the request that isn't answered is there, and the waits after it and after the event.
        for time in [30, 33, 36] {
            await eventually { clock.nextDeadline?.offset == .seconds(time) && count.withLock { $0 } > 0 }
            clock.advance(to: VirtualInstant(offset: .seconds(time)))
        }
        #expect(try await task.value == ["a"])
        #expect(causes.withLock { $0 } == [.deadlineExceeded, nil])
    }

    @Test("The deadline of a call within which they are read ends them")
    func deadlineOfOuterCall() async throws {
        let stub = StubTransport(status: .ok, headers: ["Content-Type": "text/event-stream"], body: "data: a\n\n")
        let source = client(stub).events(HTTPRequest("events"))
        let (reading, isOver) = (Locked<Task<Void, any Error>?>(nil), Locked(false))
        let outer = client(StubTransport(status: .ok)) {
            ClosureHTTPInterceptor { request, next in
                reading.withLock {
                    $0 = Task {
                        defer { isOver.withLock { $0 = true } }
                        for try await _ in source {}
                    }
                }
                return try await next(request)
            }
        }
        var request = HTTPRequest("outer")
        request.deadline = .seconds(5)
        _ = try await outer.send(request)
        let task = try #require(reading.withLock { $0 })
        await eventually { clock.nextDeadline?.offset == .seconds(3) }
        clock.advance(to: VirtualInstant(offset: .seconds(3)))
        // The next wait would end a second after the deadline.
        await eventually { isOver.withLock { $0 } || clock.nextDeadline?.offset == .seconds(6) }
        task.cancel()
        #expect(await httpError { try await task.value }?.code == .deadlineExceeded)
        #expect(stub.requests.count == 2)
    }

    @Test(
        "A token that is refused ends the events, and so does an issuer that no connection leads to any more",
        arguments: [
            OAuthError(.invalidGrant), HTTPError(.connection, phase: .notSent).forGood, HTTPError(.tls, phase: .notSent),
        ] as [any Error])
    func refusedToken(failure: any Error) async throws {
        let issuer = Issuer(failures: Locked([failure]))
        let client = client(StubTransport(sequence: [])) {
            AuthenticationInterceptor(issuer, refreshTimeout: nil, clock: clock)
        }
        let error = await httpError { try await client.events(HTTPRequest("events")).all() }
        #expect(error?.code == .authentication)
    }
}
