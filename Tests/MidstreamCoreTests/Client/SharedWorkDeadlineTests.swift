import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("The deadline of a call and work that others wait for, too", .leavesNothing, .timeLimit(.minutes(10)))
struct SharedWorkDeadlineTests {
    private let bench = ArbiterBench()

    @Test("a SingleFlight goes on for the others when the call that began it is out of time")
    func singleFlight() async throws {
        let clock = bench.clock
        let logins = bench.client(
            StubTransport { request in
                try await clock.sleep(until: .init(offset: .seconds(2)))
                return HTTPResponse(status: .ok, body: .text("token"), request: request)
            })
        let tokens = SingleFlight<Never, String>()
        let client = bench.client(
            StubTransport(status: .ok),
            interceptors: {
                ClosureRequestInterceptor("Token") { request in
                    request.headers[.authorization] = try await tokens.run {
                        try await logins.send(HTTPRequest("/token")).body.text
                    }
                }
            })
        var hasty = HTTPRequest("/")
        hasty.deadline = .seconds(1)
        let first = Task { [hasty] in await httpError { try await client.send(hasty) } }
        await eventually { tokens.waiters == 1 }
        let second = Task { try await client.send(HTTPRequest("/")) }
        await eventually { tokens.waiters == 2 }
        clock.advance(by: .seconds(1))
        #expect(await first.value?.code == .deadlineExceeded)
        clock.advance(by: .seconds(1))
        #expect(try await second.value.request.headers[.authorization] == "token")
    }
}
