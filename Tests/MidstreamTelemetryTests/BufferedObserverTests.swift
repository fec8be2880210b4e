import Foundation
import Interception
import Midstream
import MidstreamTelemetry
import MidstreamTesting
import TestSupport
import Testing

@Suite("A buffered observer", .leavesNothing, .timeLimit(.minutes(10)))
struct BufferedObserverTests {
    /// Stops at its first call until it is let go.
    private final class Slow: CallObserver {
        let released = DispatchSemaphore(value: 0)
        let seen = Locked<[CallRecord.ID]>([])

        func endedCall(_ call: CallRecord) {
            let isFirst = seen.withLock { seen in
                seen.append(call.id)
                return seen.count == 1
            }
            guard isFirst else { return }
            released.wait()
        }
    }

    @Test("doesn't hold calls up, counts what it drops, and hands over the rest in order")
    func slow() async throws {
        let slow = Slow()
        let buffered = BufferedObserver(slow, capacity: 3)
        let client = testClient(configuration: .init(observers: [buffered]), transport: StubTransport.ok)
        _ = try await client.send(HTTPRequest("http://h/"))
        await eventually { slow.seen.withLock { $0.count } == 1 }
        for _ in 0..<9 { _ = try await client.send(HTTPRequest("http://h/")) }
        #expect(buffered.dropped > 0)
        slow.released.signal()
        await buffered.flush()
        #expect(slow.seen.withLock { $0.count } <= 3 && buffered.dropped >= 24)
    }
}
