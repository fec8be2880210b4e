import Interception
import MidstreamCache
import MidstreamCore
import TestSupport
import Testing

@Suite("A fetch that all have left", .leavesNothing, .timeLimit(.minutes(10)))
struct AbandonedFetchTests {
    @Test("who asks while it is being cancelled sends a request of its own")
    func askedMeanwhile() async throws {
        let gate = Gate()
        let sent = Locked(0)
        let wasCancelled = Locked(false)
        let bench = CacheBench { request in
            let isFirst = sent.increment() == 1
            if isFirst {
                // It takes its time to react.
                await withTaskCancellationHandler {
                    await gate.wait()
                } onCancel: {
                    wasCancelled.withLock { $0 = true }
                }
                try Task.checkCancellation()
            }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .text("x"), request: request)
        }
        let first = Task { try await bench.get() }
        await gate.reached()
        first.cancel()
        await eventually { wasCancelled.withLock { $0 } }
        let second = Task { try await bench.get() }
        await eventually { bench.cache.statistics.misses == 2 }
        gate.open()
        #expect(try await second.value.text == "x")
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(bench.sent == 2)
    }
}
