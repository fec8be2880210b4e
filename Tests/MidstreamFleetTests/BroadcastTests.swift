import Interception
import TestSupport
import Testing

@testable import MidstreamFleet

@Suite("What is told to many")
struct BroadcastTests {
    @Test("comes in the order of what it tells of, whoever tells it")
    func order() async {
        let (broadcast, count) = (Broadcast<Int>(keeping: 20_000), Locked(0))
        @Sendable func next() -> Int { count.increment() }
        let stream = broadcast.stream(beginningWith: next())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<4_000 { broadcast.send(next()) }
                }
            }
        }
        broadcast.close()
        var told: [Int] = []
        for await number in stream { told.append(number) }
        #expect(told == Array(1...16_001))
    }
}
