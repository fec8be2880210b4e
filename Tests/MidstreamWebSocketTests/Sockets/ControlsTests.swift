import TestSupport
import Testing
import WebSocketFrames

@testable import MidstreamWebSocket

@Suite(.leavesNothing) struct ControlsTests {
    @Test func `Of the pongs that wait only the last sixteen are sent, and of the rest all`() {
        var controls = Controls()
        let isFirst = controls.append(Controls.Frame(bytes: [255], opcode: .ping, sent: nil))
        #expect(isFirst)
        for number in UInt8(0)..<100 {
            let isFirst = controls.append(Controls.Frame(bytes: [number], opcode: .pong, sent: nil))
            #expect(!isFirst)
        }
        let frames = controls.takeAll()
        #expect(frames == [[255]] + (UInt8(84)..<100).map { [$0] })
        #expect(controls.turns == 17)
    }
}
