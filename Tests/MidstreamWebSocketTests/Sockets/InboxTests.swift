import TestSupport
import Testing

@testable import MidstreamWebSocket

@Suite(.leavesNothing) struct InboxTests {
    @Test func `Nothing is kept of what has been read, though something always waits`() throws {
        var inbox = Inbox()
        inbox.append(.binary([0]))
        for number in 1...10_000 {
            inbox.append(.binary([UInt8(truncatingIfNeeded: number)]))
            let next = inbox.next()
            #expect(next == .binary([UInt8(truncatingIfNeeded: number - 1)]))
        }
        let kept = Mirror(reflecting: inbox).descendant("messages", "elements") as? [WebSocketMessage?]
        #expect(try #require(kept).count < 1_000)
    }

    @Test func `What is kept after closing has no gap, though there is room again`() {
        var inbox = Inbox()
        inbox.close()
        for number in UInt8(0)..<4 { inbox.append(.binary([UInt8](repeating: number, count: 100 << 10))) }
        var kept = [inbox.next()]
        inbox.append(.text("late"))
        while let next = inbox.next() { kept.append(next) }
        #expect(kept.map { $0?.bytes.first } == [0, 1, 2])
    }
}
