import Interception
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

    @Test("a streamed answer has the time of a deadline that covers its body, and no other")
    func streamed() async throws {
        let stub = StubTransport(status: 200)
        let client = bench.client(stub, interceptors: { DeadlineHeader(milliseconds: "X-T") })
        var request = HTTPRequest("/")
        request.timeout = .milliseconds(2_500)
        request.deadline = .seconds(9)
        for covers in [nil, false, true] {
            request.deadlineCoversBody = covers
            try await client.stream(request).body.close()
        }
        #expect(stub.requests.map { $0.headers["X-T"] } == [nil, nil, "9000"])
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

    @Test("what hardly comes in time isn't sent, nor retried, when that is asked for")
    func hopeless() async throws {
        let clock = bench.clock
        let stub = StubTransport { request in
            clock.advance(by: .milliseconds(100))
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(
            stub, maxRetries: 3, interceptors: { DeadlineHeader(seconds: "X-T", refusesHopeless: true) })
        for _ in 0..<20 { _ = try await client.send(HTTPRequest("/")) }
        var request = HTTPRequest("/")
        request.timeout = .milliseconds(50)
        let (delays, result) = await bench.waits(0, of: client, request)
        let error = try #require(result.httpError)
        #expect(delays.isEmpty && error.code == .timeout && error.phase == .notSent)
        #expect(error.trace?.events(named: "deadline.hopeless").count == 1)
        #expect(stub.requests.count == 20)
        request.timeout = .milliseconds(150)
        _ = try await client.send(request)
    }

    @Test("a server that is fast again is found out, also when nothing but what seems hopeless is asked of it")
    func hopeful() async throws {
        let clock = bench.clock
        let time = Locked(Duration.milliseconds(100))
        let stub = StubTransport { request in
            clock.advance(by: time.withLock { $0 })
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(stub, interceptors: { DeadlineHeader(seconds: "X-T", refusesHopeless: true) })
        for _ in 0..<20 { _ = try await client.send(HTTPRequest("/")) }
        time.withLock { $0 = .milliseconds(1) }
        var hasty = HTTPRequest("/")
        hasty.timeout = .milliseconds(50)
        var results: [Bool] = []
        for _ in 0..<1_000 {
            results.append((try? await client.send(hasty)) != nil)
            clock.advance(by: .milliseconds(100))
        }
        // One a second at first, to see, and all of them when the old times are forgotten.
        let early = results.prefix(100).filter { $0 }.count
        #expect(!results[0] && 5...12 ~= early)
        #expect(!results.dropFirst(610).contains(false))
    }

    @Test("what waits for a permit carries what is left afterwards, whatever the list's order", arguments: [true, false])
    func order(isFirst: Bool) throws {
        let limit = ConcurrencyLimit()
        let header = DeadlineHeader(seconds: "X-T")
        let client = bench.client(
            StubTransport(status: 200), interceptors: { (isFirst ? [header, limit] : [limit, header]) as [any HTTPInterceptor] })
        #expect("\(client.pipeline)".contains("ConcurrencyLimit\n  DeadlineHeader"))
    }

    @Test("no limit is none", arguments: [true, false])
    func unlimited(isDeadline: Bool) async throws {
        let stub = StubTransport(status: 200)
        let client = bench.client(stub, interceptors: { DeadlineHeader(milliseconds: "X-T") })
        var request = HTTPRequest("/")
        if isDeadline { request.deadline = .unlimited } else { request.timeout = .unlimited }
        _ = try await client.send(request)
        #expect(stub.requests.map { $0.headers["X-T"] } == [nil])
    }
}
