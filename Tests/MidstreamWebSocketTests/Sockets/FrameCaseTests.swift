import Interception
import MidstreamCore
import MidstreamTesting
import MidstreamWebSocket
import TestSupport
import Testing
import WebSocketFrames

/// What a socket as a whole makes of a server's frames, and what it answers.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct FrameCaseTests {
    /// Brings its bytes in one piece, keeps what is written, and ends once that holds a close frame.
    private final class Script: TestLine {
        private let received: Locked<[[UInt8]]>
        private let written = Locked<[UInt8]>([])
        private let isOver = Gate()

        init(_ received: [UInt8]) { self.received = Locked([received]) }

        /// What the client has said.
        var sent: [MessageReader.Event] {
            var reader = MessageReader(role: .server, messageLimit: 1 << 20)
            var events: [MessageReader.Event] = []
            do {
                try reader.take(written.withLock { $0 }) { events.append($0) }
            } catch {
                Issue.record("\(error)")
            }
            return events
        }

        nonisolated(nonsending) func next() async throws -> [UInt8]? {
            if let bytes = received.withLock({ $0.popLast() }) { return bytes }
            await isOver.wait()
            return nil
        }

        nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
            written.withLock { $0 += bytes }
            if case .close? = sent.last { isOver.open() }
        }

        func close() { isOver.open() }
    }

    private func connect(_ script: Script) async throws -> WebSocket {
        let client = testClient(baseURL: "https://example.com", transport: StubTransport(socketOver: script))
        return try await client.webSocket("feed") { $0.maximumMessage = 64 << 20 }.connect()
    }

    @Test(arguments: FrameCase.all)
    func `A socket hands on the messages, answers pings, and closes with the code that there is for it`(
        _ test: FrameCase
    ) async throws {
        let closing = test.events.compactMap { event -> CloseFrame? in
            if case .close(let frame) = event { frame } else { nil }
        }
        let goesOn = closing.isEmpty && test.violation == nil
        let script = Script(test.bytes + (goesOn ? closeFrame(1000) : []))
        let socket = try await connect(script)
        var messages: [MessageReader.Event] = []
        do {
            for try await message in socket {
                switch message {
                case .text(let text): messages.append(.text(text))
                case .binary(let bytes): messages.append(.binary(bytes))
                }
            }
        } catch let error as HTTPError {
            #expect(error.code == .connectionLost)
        }
        let expected = test.events.filter { event in
            switch event {
            case .text, .binary: true
            case .ping, .pong, .close: false
            }
        }
        #expect(messages == expected)
        var answers = test.events.compactMap { event -> [UInt8]? in
            if case .ping(let payload) = event { payload } else { nil }
        }
        for event in script.sent.dropLast() {
            #expect(event == .pong(answers.isEmpty ? [0] : answers.removeFirst()))
        }
        #expect(answers.isEmpty)
        guard case .close(let sent)? = script.sent.last else { return _ = Issue.record("no close frame") }
        let code = goesOn ? 1000 : test.violation ?? closing.first?.code
        #expect(sent.code == code)
        #expect(socket.closure?.code.rawValue == code ?? 1005 && socket.closure?.byPeer == (test.violation == nil))
    }
}
