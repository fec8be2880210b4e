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
}
