import Foundation
import Interception
import Midstream
import MidstreamTelemetry
import MidstreamTesting
import TestSupport
import Testing

@Suite("A buffered observer", .leavesNothing, .timeLimit(.minutes(10)))
struct BufferedObserverTests {
    /// Stops at the end of its first call until it is let go.
    private final class Slow: CallObserver {
        let released = DispatchSemaphore(value: 0)
        let seen = Locked<[CallRecord.ID]>([])
        /// Calls and bodies that go on, as far as it knows.
        let open = Locked((calls: 0, bodies: 0))

        func began(_ call: CallRecord.Start) { open.withLock { $0.calls += 1 } }
        func endedExchange(_ exchange: ExchangeRecord) { if exchange.isBodyArriving { open.withLock { $0.bodies += 1 } } }
        func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) { open.withLock { $0.bodies -= 1 } }

        func endedCall(_ call: CallRecord) {
            open.withLock { $0.calls -= 1 }
            let isFirst = seen.withLock { seen in
                seen.append(call.id)
                return seen.count == 1
            }
            guard isFirst else { return }
            released.wait()
        }
    }

    @Test("doesn't hold calls up, counts what it drops, and hands over the rest in order and to its end")
    func slow() async throws {
        let slow = Slow()
        let buffered = BufferedObserver(slow, capacity: 4)
        let transport = StubTransport { HTTPResponse(status: .ok, body: .incoming(ArrivingBody()), request: $0) }
        let client = testClient(configuration: .init(observers: [buffered]), transport: transport)
        func call() async throws { _ = try await client.stream(HTTPRequest("http://h/")).body.collect() }
        try await call()
        await eventually { slow.seen.withLock { $0.count } == 1 }
        // Of the first of these there is room for the beginning, and of the others for nothing.
        for _ in 0..<9 { try await call() }
        #expect(buffered.dropped == 32)
        slow.released.signal()
        await buffered.flush()
        #expect(slow.seen.withLock { $0.count } == 2 && buffered.dropped == 32)
        #expect(slow.open.withLock { $0 == (0, 0) })
    }
}
