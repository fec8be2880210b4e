import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("Tasks that share a call", .leavesNothing, .timeLimit(.minutes(10)))
struct CoalescedTaskTests {
    @Test("a status that is rejected is the result of each of them", arguments: [0, 1])
    func rejectedStatus(retries: Int) async throws {
        let gate = Gate()
        let stub = StubTransport { request in
            await gate.wait()
            return HTTPResponse(status: 404, body: .text("no"), request: request)
        }
        let coalescing = Coalescing()
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = retries
        configuration.validators = [DefaultValidator(retriableStatus: [404: .immediate])]
        let client = testClient(baseURL: "https://h", configuration: configuration, transport: stub) { coalescing }
        let tasks = (0..<2).map { _ in Task { try await client.get("x").result() } }
        await eventually { coalescing.waiting == 2 }
        gate.open()
        for task in tasks {
            let result = try await task.value
            #expect(result.head.status == 404 && result.rejection?.response?.status == 404)
        }
        #expect(stub.requests.count == 1 + retries)
    }
}
