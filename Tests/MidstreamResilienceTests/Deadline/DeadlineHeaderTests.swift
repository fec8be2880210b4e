import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("The field that tells the time left", .leavesNothing, .timeLimit(.minutes(10)))
struct DeadlineHeaderTests {
    private let bench = ArbiterBench()

    @Test(
        "each exchange carries what is left",
        arguments: [
            (DeadlineHeader.Format.milliseconds("X-Request-Timeout-Ms"), "X-Request-Timeout-Ms", "2500"),
            (.seconds("X-T"), "X-T", "2"),
            (.grpc, "grpc-timeout", "2500000u"),
        ])
    func carries(format: DeadlineHeader.Format, name: String, value: String) async throws {
        let stub = StubTransport(status: 200)
        let client = bench.client(stub, interceptors: { DeadlineHeader(format) })
        var request = HTTPRequest("/")
        request.timeout = .milliseconds(2_500)
        request.deadline = .seconds(9)
        _ = try await client.send(request)
        request.timeout = nil
        request.deadline = nil
        _ = try await client.send(request)
        #expect(stub.requests.map { $0.headers[HTTPHeaders.Name(name)] } == [value, nil])
    }

    @Test(
        "gRPC's eight digits are enough for any time",
        arguments: [
            (Duration.nanoseconds(5), "5n"), (.seconds(-1), "0n"), (.seconds(200_000), "200000S"),
            (.longest, "878400H"),
        ])
    func grpc(left: Duration, value: String) {
        #expect(DeadlineHeader.Format.grpc.value(left) == value)
    }

    @Test("what hardly comes in time isn't sent, when that is asked for")
    func hopeless() async throws {
        let clock = bench.clock
        let stub = StubTransport { request in
            clock.advance(by: .milliseconds(100))
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(stub, interceptors: { DeadlineHeader(.seconds("X-T"), refusesHopeless: true) })
        for _ in 0..<20 { _ = try await client.send(HTTPRequest("/")) }
        var request = HTTPRequest("/")
        request.timeout = .milliseconds(50)
        let hasty = request
        let error = try #require(await httpError { try await client.send(hasty) })
        #expect(error.code == .timeout && error.phase == .notSent)
        #expect(error.trace?.events(of: CallEvents.Hopeless.self).count == 1)
        #expect(stub.requests.count == 20)
        request.timeout = .milliseconds(150)
        _ = try await client.send(request)
    }
}
