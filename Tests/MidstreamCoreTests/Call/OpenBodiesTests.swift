import Interception
import Testing

@testable import MidstreamCore

@Suite("The bodies that a call has opened", .timeLimit(.minutes(10)))
struct OpenBodiesTests {
    @Test("those that are gone aren't kept account of, and those that are there are closed with the call")
    func gone() {
        let call = OpenBodies(within: nil)
        let closed = Locked<[Int]>([])
        var kept: [HTTPBody] = []
        for number in 0..<10_000 {
            let body = HTTPBody.incoming(next: { nil }, close: { closed.withLock { $0.append(number) } })
            if number.isMultiple(of: 1_000) { kept.append(body) }
            OpenBodies(within: call).add(body)
        }
        #expect(call.count < 100)
        closed.withLock { $0 = [] }
        call.close()
        #expect(closed.withLock { $0 } == (0..<10).reversed().map { $0 * 1_000 })
        withExtendedLifetime(kept) {}
    }
}
