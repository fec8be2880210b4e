import Midstream
import MidstreamNetworkStatus
import MidstreamTesting
import TestSupport
import Testing

@Suite("A retry when the machine is online", .leavesNothing, .timeLimit(.minutes(10)))
struct WhenOnlineTests {
    private let clock = TestClock()
    private let request = HTTPRequest("https://h.test/")
    private static let refused = StubTransport.Reply.fail(HTTPError(.connection, phase: .notSent))

    /// A client whose failed connections are followed by the strategy.
    private func client(
        _ transport: StubTransport, _ status: SetStatus, within limit: Duration = .seconds(60), maxRetries: Int = 1,
        budget: RetryBudget? = nil
    ) -> HTTPClient {
        let strategy = RetryStrategy.whenOnline(within: limit, status: status, clock: clock)
        let configuration = HTTPClient.Configuration(
            timeout: nil, maxRetries: maxRetries, validators: [DefaultValidator(retriableErrors: [.connection: strategy])],
            retryBudget: budget, clock: clock)
        return testClient(configuration: configuration, transport: transport)
    }

    @Test("It is made at the moment when there is a network, and once")
    func comesOnline() async throws {
        let status = SetStatus(isOnline: false)
        let transport = StubTransport(sequence: [Self.refused, .respond(.ok)])
        let client = client(transport, status, maxRetries: 3)
        let call = Task { [request] in try await client.send(request) }
        await eventually { status.waiters == 1 }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(59))
        #expect(transport.requests.count == 1)
        status.goOnline()
        let response = try await call.value
        #expect(response.request.attempt == 2 && transport.requests.count == 2)
        #expect(clock.now.offset == .seconds(59) && clock.sleepers == 0)
        let trace = "\(response.trace)"
        #expect(trace.contains("no network; waits for one, 60.0 seconds at most") && trace.contains("the network is back"))
    }

    @Test("Without a network it is made when the limit is over, and fails by itself", arguments: [0, 1])
    func staysOffline(maxRetries: Int) async throws {
        let status = SetStatus(isOnline: false)
        let transport = StubTransport(sequence: [Self.refused, Self.refused])
        let client = client(transport, status, within: .seconds(20), maxRetries: maxRetries)
        let (delays, result) = await clock.waits(1) { [request] in try await client.send(request) }
        #expect(delays == [.seconds(20)] && transport.requests.count == 2 && status.waiters == 0)
        let error = try #require(result.httpError)
        #expect(error.code == (maxRetries == 0 ? .connection : .retriesExhausted) && error.cause == .connection)
        #expect("\(try #require(error.trace))".contains("still no network"))
    }

    @Test("With a network already it is made after a pause, as often as retries are allowed")
    func isOnline() async throws {
        let transport = StubTransport { _ in throw HTTPError(.connection, phase: .notSent) }
        let client = client(transport, SetStatus(isOnline: true), maxRetries: 3)
        let (delays, result) = await clock.waits(3) { [request] in try await client.send(request) }
        #expect(delays.count == 3 && delays.allSatisfy { (.milliseconds(500) ... .seconds(1)).contains($0) }, "\(delays)")
        #expect(Set(delays).count > 1)
        #expect(result.httpError?.code == .retriesExhausted && transport.requests.count == 4)
    }

    @Test("The pause isn't longer than the limit", arguments: [Duration.milliseconds(10), .zero, .seconds(-1)])
    func shortLimit(limit: Duration) async throws {
        for isOnline in [true, false] {
            let transport = StubTransport(sequence: [Self.refused, .respond(.ok)])
            let client = client(transport, SetStatus(isOnline: isOnline), within: limit)
            let waits = limit > .zero ? 1 : 0
            let (delays, result) = await clock.waits(waits) { [request] in try await client.send(request) }
            #expect(delays.allSatisfy { $0 == limit } && delays.count == waits)
            #expect(try result.get().status == .ok)
        }
    }

    @Test("Where nobody can tell it is made after the pause, and the trace says why")
    func unknown() async throws {
        let transport = StubTransport(sequence: [Self.refused, .respond(.ok)])
        let client = client(transport, SetStatus(isOnline: false, failure: Failure("no sockets")))
        let call = Task { [request] in try await client.send(request) }
        // Those of the limit, which is given up, and of the pause.
        await eventually { clock.sleepers == 1 && clock.nextDeadline.map { $0.offset <= .seconds(1) } == true }
        clock.advanceToLastDeadline()
        #expect("\(try await call.value.trace)".contains("nobody can tell of the network: Failure(reason: \"no sockets\")"))
    }

    @Test("A cancellation ends the wait at once", arguments: [true, false])
    func cancelled(isOnline: Bool) async throws {
        let status = SetStatus(isOnline: isOnline)
        let transport = StubTransport(sequence: [Self.refused])
        let client = client(transport, status)
        let call = Task { [request] in try await client.send(request) }
        await clock.waitForSleepers()
        await eventually { isOnline || status.waiters == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await eventually { status.waiters == 0 && clock.sleepers == 0 }
        #expect(transport.requests.count == 1)
    }

    @Test("A deadline before the limit ends the call", arguments: [true, false])
    func deadline(isOnline: Bool) async throws {
        let status = SetStatus(isOnline: isOnline)
        let transport = StubTransport(sequence: [Self.refused])
        let client = client(transport, status)
        var request = request
        request.deadline = .milliseconds(400)
        let call = Task { [request] in try await client.send(request) }
        await clock.waitForSleepers(2)
        await eventually { isOnline || status.waiters == 1 }
        clock.advance(by: .milliseconds(400))
        #expect(await call.result.httpError?.code == .deadlineExceeded)
        await eventually { status.waiters == 0 && clock.sleepers == 0 }
        #expect(transport.requests.count == 1)
    }

    @Test("Of calls that wait each is sent when there is a network")
    func several() async throws {
        let status = SetStatus(isOnline: false)
        let transport = StubTransport { request in
            guard status.isOnline else { throw HTTPError(.nameResolution, phase: .notSent) }
            return HTTPResponse(status: .ok, request: request)
        }
        let client = testClient(
            configuration: .init(
                timeout: nil, maxRetries: 1, validators: [OfflineValidator(status: status, clock: clock)], clock: clock),
            transport: transport)
        let calls = (0..<20).map { number in Task { try await client.send(HTTPRequest("https://h.test/\(number)")) } }
        await eventually { status.waiters == 20 }
        status.goOnline()
        for call in calls { #expect(try await call.value.status == .ok) }
        #expect(transport.requests.count == 40)
    }

    @Test("A validator that asks for it after failed connections alone leaves other failures alone")
    func otherFailures() async throws {
        let status = SetStatus(isOnline: false)
        let transport = StubTransport(sequence: [.fail(HTTPError(.timeout)), .respond(.serviceUnavailable)])
        let client = testClient(
            configuration: .init(
                timeout: nil, maxRetries: 1, validators: [OfflineValidator(status: status, clock: clock)], clock: clock),
            transport: transport)
        #expect(await httpError { try await client.send(request) }?.code == .timeout)
        #expect(try await client.send(request).status == .serviceUnavailable)
    }

    @Test("The budget is asked where the default validator asks for it, before anything is waited for")
    func budget() async throws {
        let transport = StubTransport(sequence: [Self.refused])
        let none = RetryBudget(share: 0, reserve: 0, window: .seconds(10))
        let client = client(transport, SetStatus(isOnline: false), budget: none)
        let error = await httpError { try await client.send(request) }
        #expect(error?.code == .retriesExhausted && clock.sleepers == 0)
    }
}

/// Waits for a network where no server could be reached.
private struct OfflineValidator: HTTPValidator {
    let status: SetStatus
    let clock: TestClock

    func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict { .next }

    func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
        switch (error as? HTTPError)?.code {
        case .connection, .nameResolution: .retry(.whenOnline(status: status, clock: clock))
        default: .next
        }
    }
}
