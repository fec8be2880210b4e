import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("Resilience as a whole", .leavesNothing, .timeLimit(.minutes(10)))
struct ResilienceReportTests {
    private let bench = ArbiterBench()

    @Test("a client tells where it stands with each server")
    func report() async throws {
        let client = bench.client(
            StubTransport { [clock = bench.clock] request in
                clock.advance(by: .milliseconds(100))
                return HTTPResponse(status: request.urlText.hasPrefix("https://bad") ? 500 : 200, request: request)
            }, validators: []
        ) {
            $0.retryBudget = RetryBudget()
        } interceptors: {
            Resilience.standard
        }
        for _ in 0..<20 {
            _ = try await client.send(HTTPRequest("/"))
            _ = try await client.send(HTTPRequest("https://bad/"))
        }
        let report = client.resilience
        #expect(report.entries.map(\.key) == ["https://bad", "https://h"])
        #expect(report["https://h"]?.breaker == .closed)
        #expect(report["https://h"]?.concurrency == .init(limit: 20, inFlight: 0, queued: 0))
        #expect(report["https://bad"]?.breaker?.name == "open")
        #expect("\(report)".contains("https://h       20          0     0          closed  101 ms  101 ms"))
        #expect("\(report)".contains("retries: 0 of 40 calls, 18 left"))
    }

    @Test("what was measured is forgotten without traffic")
    func ages() async throws {
        let hedging = Hedging()
        let client = bench.client(
            StubTransport { [clock = bench.clock] request in
                clock.advance(by: .milliseconds(5))
                return HTTPResponse(status: 200, request: request)
            },
            interceptors: {
                ConcurrencyLimit()
                hedging
            })
        for _ in 0..<60 { _ = try await client.send(HTTPRequest("/")) }
        #expect(client.resilience["https://h"]?.p50 != nil)
        #expect(try #require(hedging.states["https://h"]).delay < .milliseconds(10))
        bench.clock.advance(by: .seconds(59))
        #expect(client.resilience["https://h"]?.p95 != nil)
        bench.clock.advance(by: .seconds(1))
        #expect(client.resilience["https://h"]?.p50 == nil && client.resilience["https://h"]?.p95 == nil)
        #expect(hedging.states["https://h"]?.delay == .seconds(1))
    }

    @Test("any order of the list gives the same pipeline")
    func permutations() {
        func pipeline(_ interceptors: [any HTTPInterceptor]) -> String {
            "\(bench.client(StubTransport(status: 200), interceptors: { interceptors }).pipeline)"
        }
        let expected = pipeline([Hedging(), CircuitBreaker(), RateLimit(), ConcurrencyLimit()])
        for first in 0..<4 {
            var parts: [any HTTPInterceptor] = [CircuitBreaker(), ConcurrencyLimit(), Hedging(), RateLimit()]
            parts.swapAt(0, first)
            #expect(pipeline(parts) == expected)
            #expect(pipeline(parts.reversed()) == expected)
        }
        #expect(pipeline([Hedging(), Resilience.standard]) == pipeline([Resilience.standard, Hedging()]))
        #expect(expected.contains("exchange\n  Hedging\n  CircuitBreaker\n  RateLimit\n  ConcurrencyLimit"))
    }

    @Test("the standard set retries, and bounds times, unless somebody says otherwise")
    func standard() async throws {
        let stub = StubTransport(status: 503)
        let client = bench.client(stub, validators: [AlwaysRetry()]) {
            $0.timeout = .seconds(5)
        } interceptors: {
            Resilience.standard
        }
        _ = try? await client.send(HTTPRequest("/"))
        #expect(stub.requests.map(\.attempt) == [1, 2, 3, 4])
        #expect(stub.requests.first?.timeout == .seconds(5))
        #expect(stub.requests.first?.deadline == .seconds(30))
        var request = HTTPRequest("/")
        request.maxRetries = 0
        request.timeout = .seconds(60)
        _ = try? await client.send(request)
        #expect(stub.requests.count == 5)
        #expect(stub.requests.last?.timeout == .seconds(60))
        #expect("\(try await client.explain(HTTPRequest("/")))".contains("3 retries, 5.0 s for an attempt, 30.0 s for the call"))
    }

    @Test("what the client sets holds, and is what an explanation tells", arguments: [0, 1, 5])
    func clientsOwn(maxRetries: Int) async throws {
        let stub = StubTransport(status: 503)
        let client = bench.client(stub, maxRetries: maxRetries, validators: [AlwaysRetry()]) {
            $0.deadline = .milliseconds(400)
        } interceptors: {
            Resilience.standard
        }
        _ = try? await client.send(HTTPRequest("/"))
        #expect(stub.requests.count == 1 + maxRetries)
        #expect(stub.requests.first?.deadline == .milliseconds(400))
        let explanation = "\(try await client.explain(HTTPRequest("/")))"
        #expect(explanation.contains("\(maxRetries) retries, 10.0 s for an attempt, 400 ms for the call"))
        let chosen = bench.client(stub, maxRetries: maxRetries, interceptors: { Resilience.standard(maxRetries: 2) })
        #expect(try await chosen.explain(HTTPRequest("/")).maxRetries == 2)
    }
}
