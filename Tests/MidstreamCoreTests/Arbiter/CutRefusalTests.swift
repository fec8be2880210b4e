import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. A refusal whose body is cut", .leavesNothing)
struct CutRefusalTests {
    private let bench = ArbiterBench()

    private static func refusal(
        _ status: HTTPStatus, to request: HTTPRequest, _ headers: HTTPHeaders = [:], by code: HTTPError.Code = .connectionLost
    ) -> HTTPResponse {
        let error = HTTPError(code, phase: .answered)
        return HTTPResponse(
            status: status, headers: headers, body: .incoming(next: { throw error }, close: {}), request: request)
    }

    @Test("is retried when its Retry-After asks for it, at the cost of one that throttles, and the trace has its status")
    func retried() async throws {
        let stub = StubTransport { Self.refusal(503, to: $0, [.retryAfter: "7"]) }
        let validator = DefaultValidator(retriableStatus: [503: .delayed(.seconds(1))])
        let client = bench.client(stub, maxRetries: 1, validators: [validator]) {
            $0.retryBudget = RetryBudget(window: .seconds(3_600))
        }
        let (delays, result) = await bench.waits(1, of: client)
        #expect(delays == [.seconds(7)])
        let error = result.httpError
        #expect(error?.code == .retriesExhausted && error?.response?.status == 503)
        for name in ["retry", "retry.none"] {
            #expect(error?.trace?.events(named: name).map(\.attributes["status"]) == [503])
        }
        #expect(client.retryBudget?.available == 9)
    }

    @Test("of an interceptor that answers by itself is told by its status, too")
    func ofAnInterceptor() async {
        let client = bench.client(StubTransport.ok) { _ in
        } interceptors: {
            ClosureHTTPInterceptor { request, _ in Self.refusal(422, to: request) }
        }
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 422)
    }

    @Test(
        "is what cut it where that is a time that is over, or a digest",
        arguments: [
            HTTPError.Code.timeout, .deadlineExceeded, .digestMismatch,
        ])
    func isWhatCutIt(code: HTTPError.Code) async {
        let stub = StubTransport { Self.refusal(422, to: $0, by: code) }
        let error = await httpError { try await bench.client(stub, maxRetries: 0).send(HTTPRequest("/")) }
        #expect(error?.code == code)
    }
}
