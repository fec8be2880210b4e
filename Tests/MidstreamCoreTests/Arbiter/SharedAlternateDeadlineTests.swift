import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. The time that calls have for an alternate they share", .leavesNothing, .timeLimit(.minutes(10)))
struct SharedAlternateDeadlineTests {
    private let bench = ArbiterBench()

    @Test("the deadline of the call that began it doesn't end it for the others")
    func deadline() async throws {
        let clock = bench.clock
        let stub = StubTransport { request in
            let isLogin = request.urlText.hasSuffix("/login")
            if isLogin { try await clock.sleep(for: .seconds(2)) }
            return HTTPResponse(status: isLogin || request.attempt == 2 ? .ok : .unauthorized, request: request)
        }
        let client = bench.client(
            stub, validators: [AlternateRequestValidator { _, _ in HTTPRequest("/login") }, DefaultValidator()])
        let call: @Sendable (Duration) async throws -> HTTPStatus = { deadline in
            var request = HTTPRequest("/")
            request.deadline = deadline
            return try await client.send(request).status
        }
        let hasty = Task { try await call(.seconds(1)) }
        // The deadlines of the call and of its login, and the login's own time.
        await clock.waitForSleepers(3)
        let patient = Task { try await call(.seconds(9)) }
        await clock.waitForSleepers(5)
        clock.advance(by: .seconds(1))
        #expect(await hasty.result.httpError?.code == .deadlineExceeded)
        clock.advance(by: .seconds(1))
        #expect(try await patient.value == .ok)
        #expect(stub.requests.count { $0.urlText.hasSuffix("/login") } == 1)
    }

    @Test("one that hangs ends with its own timeout, and who joined it later asks again")
    func hangingAlternate() async throws {
        let clock = bench.clock
        let (arrivals, hasArrived) = AsyncStream.makeStream(of: Void.self)
        let logins = Locked(0)
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/login") else {
                return HTTPResponse(status: request.attempt == 2 ? .ok : .unauthorized, request: request)
            }
            let number = logins.increment()
            if number == 1 {
                hasArrived.yield()
                try await untilCancelled()
            }
            return HTTPResponse(status: .ok, request: request)
        }
        let client = bench.client(
            stub, validators: [AlternateRequestValidator { _, _ in HTTPRequest("/login") }, DefaultValidator()]
        ) { $0.timeout = .seconds(60) }
        let early = Task { try await client.send(HTTPRequest("/")).status }
        for await _ in arrivals { break }
        // The call's time, and that of its login.
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(30))
        let late = Task { try await client.send(HTTPRequest("/")).status }
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(30))
        let error = await early.result.httpError
        #expect(error?.code == .authentication && (error?.underlying as? HTTPError)?.code == .timeout)
        #expect(try await late.value == .ok)
        #expect(logins.withLock { $0 } == 2)
    }
}
