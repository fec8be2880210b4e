import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("A change whose answer is streamed", .leavesNothing, .timeLimit(.minutes(10)))
struct StreamedChangeTests {
    private let bench = ArbiterBench()

    @Test("is over at its end: who has read that doesn't share what was asked for before")
    func end() async throws {
        let gate = Gate()
        let stub = StubTransport { request in
            guard request.method.isSafe else {
                return HTTPResponse(status: 200, body: .once(chunks("1 of 2", "2 of 2")), request: request)
            }
            await gate.wait()
            return HTTPResponse(status: 200, request: request)
        }
        let coalescing = Coalescing()
        let client = bench.client(stub, interceptors: { coalescing })
        let change = try await client.stream(HTTPRequest(.post, "/imports"))
        async let early = client.send(HTTPRequest("/items"))
        await gate.reached()
        _ = try await change.body.collect()
        async let late = client.send(HTTPRequest("/items"))
        await eventually { coalescing.waiting == 2 }
        gate.open()
        _ = try await (early, late)
        #expect(stub.requests.count == 3)
    }
}
