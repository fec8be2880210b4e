import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("What an exchange says of its server", .leavesNothing)
struct ExchangeOutcomeTests {
    private let bench = ArbiterBench()

    @Test(
        "nothing, where a request failed that an interceptor has sent by itself to another one, perhaps the same",
        arguments: [false, true], [false, true])
    func anotherServer(isAnswered: Bool, isSameRequest: Bool) async {
        let (breaker, limit) = (CircuitBreaker(), ConcurrencyLimit(.adaptive(start: 20)))
        let tokens = bench.client(
            StubTransport { request in
                guard isAnswered else { throw HTTPError(.connection, phase: .notSent) }
                return HTTPResponse(status: .serviceUnavailable, request: request)
            })
        let stub = StubTransport(status: .ok)
        let client = bench.client(stub) { _ in
        } interceptors: {
            breaker
            limit
            ClosureRequestInterceptor(stage: .exchange) { request in
                _ = try await tokens.send(isSameRequest ? request : HTTPRequest("https://tokens/"))
            }
        }
        for _ in 0..<30 {
            let error = await httpError { try await client.send(HTTPRequest("/")) }
            #expect(error?.code == (isAnswered ? .unacceptableStatus : .connection))
        }
        #expect(breaker.state(of: "https://h", on: bench.clock) == .closed)
        #expect(limit.states["https://h"]?.limit == 20 && stub.requests.isEmpty)
    }

    @Test("a failure, also of a request that an interceptor has made in the place of the call's")
    func madeAnew() async {
        let breaker = CircuitBreaker()
        let client = bench.client(StubTransport { throw HTTPError(.connection, request: $0, phase: .notSent) }) { _ in
        } interceptors: {
            breaker
            ClosureHTTPInterceptor(stage: .exchange) { _, next in try await next(HTTPRequest("https://h/elsewhere")) }
        }
        for _ in 0..<20 { _ = await httpError { try await client.send(HTTPRequest("/")) } }
        #expect(breaker.state(of: "https://h", on: bench.clock) != .closed)
    }
}
