import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("A closure that is run beforehand, to find out what is shared", .leavesNothing, .timeLimit(.minutes(10)))
struct RehearsedClosureTests {
    private let bench = ArbiterBench()

    @Test("gives nothing of that to real calls, where it fetches once for all by a flight")
    func flight() async throws {
        let (gate, runs, flight) = (Gate(), Locked(0), SingleFlight<String, String?>())
        let logins = bench.client(StubTransport(status: .ok, body: .text("token")))
        let stub = StubTransport(status: .ok)
        let client = bench.client(
            stub,
            interceptors: {
                Coalescing()
                ClosureRequestInterceptor { request in
                    runs.withLock { $0 += 1 }
                    request.headers["X-Token"] = try await flight.run("login") {
                        await gate.wait()
                        return try await logins.send(HTTPRequest(.post, "/login")).body.text
                    }
                }
            })
        let planned = Task { try await client.send(HTTPRequest("/a")).status }
        await gate.reached()
        // What may change something isn't planned.
        let meant = Task { try await client.send(HTTPRequest(.post, "/b")).status }
        await eventually { runs.withLock { $0 } == 2 }
        gate.open()
        for call in [planned, meant] { #expect(try await call.value == .ok) }
        #expect(stub.requests.map { $0.headers["X-Token"] } == ["token", "token"])
    }
}
