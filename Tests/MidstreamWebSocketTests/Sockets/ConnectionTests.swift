import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing
import WebSocketFrames

@testable import MidstreamWebSocket

/// Over a connection that does what the test says.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ConnectionTests {
    private func connected(
        over line: some TestLine, _ options: WebSocketOptions = WebSocketOptions(), deflate: DeflateParameters? = nil,
        on clock: TestClock = TestClock()
    ) -> Connection {
        let connection = Connection(
            BodyChannel(line, line), of: HTTPRequest("feed"), deflate, options, on: Stopwatch(on: clock))
        connection.start()
        return connection
    }

    @Test(
        arguments: [
            ([0x88, 9, 0x03, 0xF4] + Array("restart".utf8), .restart, true), ([0x83, 0], .protocolError, false),
        ] as [([UInt8], WebSocketClosure.Code, Bool)])
    func `Why a socket is closed is told though a send breaks off meanwhile`(
        received: [UInt8], code: WebSocketClosure.Code, byPeer: Bool
    ) async throws {
        let line = BlockedLine(received)
        let connection = connected(over: line)
        let sending = Task { try await connection.send(.binary, [1]) }
        await eventually { connection.state.withLock { $0.closing != nil } }
        line.breaks.open()
        let sent = await #expect(throws: HTTPError.self) { try await sending.value }
        let read = await #expect(throws: HTTPError.self) { try await connection.next() }
        for failure in [sent, read] {
            let closure = failure?.underlying as? WebSocketClosure
            #expect(closure?.code == code && closure?.byPeer == byPeer)
            if byPeer { #expect(closure?.reason == "restart") }
        }
    }

    @Test func `What came before the connection broke is read, though a send finds that out first`() async throws {
        // More than waits for a reader, then another message and a close frame.
        let large = [UInt8](repeating: 0, count: 300 << 10)
        let frames = FrameWriter.frame(.binary, large) + FrameWriter.frame(.text, Array("last".utf8))
        let line = BlockedLine(frames + [0x88, 2, 0x03, 0xF4])
        line.breaks.open()
        let connection = connected(over: line)
        let sent = await #expect(throws: HTTPError.self) { try await connection.send(.binary, [1]) }
        #expect(sent?.code == .connectionLost && sent?.phase == .answered)
        #expect(try await connection.next() == .binary(large))
        #expect(try await connection.next() == .text("last"))
        let read = await #expect(throws: HTTPError.self) { try await connection.next() }
        #expect((read?.underlying as? WebSocketClosure)?.code == .restart)
    }

    @Test func `Closing after a failed send doesn't wait for a reader who is behind`() async throws {
        let large = [UInt8](repeating: 0, count: 300 << 10)
        let line = BlockedLine(FrameWriter.frame(.binary, large) + [0x88, 2, 0x03, 0xF4])
        let connection = connected(over: line)
        let sending = Task { try await connection.send(.binary, [1]) }
        await eventually { connection.state.withLock { $0.inbox.receiver != nil } }
        line.breaks.open()
        await #expect(throws: HTTPError.self) { try await sending.value }
        try await connection.close(CloseFrame(code: 1000))
        #expect(try await connection.next() == .binary(large))
    }

    @Test func `A send that is cancelled while the server closes leaves it to that why the socket ends`() async throws {
        let line = BlockedLine([0x88, 9, 0x03, 0xF4] + Array("restart".utf8))
        let connection = connected(over: line)
        let sending = Task { try await connection.send(.binary, [1]) }
        await eventually { connection.state.withLock { $0.closing != nil } }
        sending.cancel()
        line.breaks.open()
        await #expect(throws: CancellationError.self) { try await sending.value }
        let failure = await #expect(throws: HTTPError.self) { try await connection.next() }
        #expect((failure?.underlying as? WebSocketClosure)?.code == .restart)
    }

    @Test func `Closing takes no longer than it may though a send is stuck`() async throws {
        let clock = TestClock()
        let line = BlockedLine([])
        let connection = connected(over: line, on: clock)
        let sending = Task { try await connection.send(.binary, [1]) }
        await eventually { connection.state.withLock { $0.metrics.wireBytesSent > 0 } }
        let closing = Task { try await connection.close(CloseFrame(code: 1000)) }
        await clock.pass(.seconds(5))
        try await closing.value
        #expect(try await connection.next() == nil)
        line.breaks.open()
        await #expect(throws: HTTPError.self) { try await sending.value }
    }

    /// Brings its bytes in one piece, and then nothing; takes all that is written.
    private final class Line: TestLine {
        /// In which call it was read and written, each time.
        let calls = Locked<[Int?]>([])
        let written = Locked<[[UInt8]]>([])
        private let received: Locked<[[UInt8]]>
        private let isClosed = Gate()

        init(_ received: [UInt8]) { self.received = Locked([received]) }

        nonisolated(nonsending) func next() async throws -> [UInt8]? {
            calls.withLock { $0.append(ConnectionTests.call) }
            if let bytes = received.withLock({ $0.popLast() }) { return bytes }
            await isClosed.wait()
            return nil
        }

        nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
            calls.withLock { $0.append(ConnectionTests.call) }
            written.withLock { $0.append(bytes) }
        }

        func close() { isClosed.open() }
    }

    @TaskLocal private static var call: Int?

    @Test func `What a socket does by itself is no part of the call that opens it`() async throws {
        let clock = TestClock()
        // A ping, which is answered.
        let line = Line([0x89, 0])
        let options = WebSocketOptions(pingInterval: .seconds(20))
        let connection = Connection(
            BodyChannel(line, line), of: HTTPRequest("feed"), nil, options, on: Stopwatch(on: clock))
        Self.$call.withValue(1) { connection.start() }
        await eventually { line.calls.withLock { $0.count } == 3 }
        await clock.pass(.seconds(20))
        await eventually { line.calls.withLock { $0.count } == 4 }
        let ping = Self.$call.withValue(1) { Task { try await connection.ping() } }
        await eventually { line.calls.withLock { $0.count } == 5 }
        #expect(line.calls.withLock { $0 } == [nil, nil, nil, nil, nil])
        connection.lose(nil)
        await #expect(throws: HTTPError.self) { try await ping.value }
    }

    @Test(
        arguments: [(64 << 10, [64 << 10, 36 << 10]), (32 << 10, [32 << 10, 32 << 10, 32 << 10, 4 << 10])] as [(Int, [Int])])
    func `A long message goes out in frames of as much as may be in one`(most: Int, sizes: [Int]) async throws {
        let line = Line([])
        var options = WebSocketOptions()
        if most != options.maximumFrame { options.maximumFrame = most }
        let connection = connected(over: line, options)
        try await connection.send(.binary, [UInt8](repeating: 0, count: 100 << 10))
        let frames = line.written.withLock { $0 }
        // Each begins with its opcode, its length and its mask.
        #expect(frames.map { $0.count - ($0.count > 65_536 ? 14 : 8) } == sizes)
        #expect(frames.map { $0[0] } == [0x02] + [UInt8](repeating: 0, count: sizes.count - 2) + [0x80])
        connection.lose(nil)
    }

    @Test func `A message goes out in one frame where the server takes each for a message`() async throws {
        let line = Line([])
        let connection = connected(over: line, WebSocketOptions(maximumFrame: .max))
        try await connection.send(.binary, [UInt8](repeating: 0, count: 100 << 10))
        #expect(line.written.withLock { $0.map { $0[0] } } == [0x82])
        connection.lose(nil)
    }

    @Test func `Of what is inflated no more waits than there is room for`() async throws {
        let message = [UInt8](repeating: 0, count: 100 << 10)
        let deflater = try #require(Deflater(windowBits: 15, keepsContext: false))
        let frame = FrameWriter.frame(.binary, try #require(deflater.deflate(message)), isCompressed: true)
        let received: [UInt8] = [[UInt8]](repeating: frame, count: 20).joined() + [0x88, 2, 0x03, 0xE8]
        let line = Line(received)
        let connection = connected(over: line, deflate: DeflateParameters())
        await eventually { connection.state.withLock { $0.inbox.receiver != nil || $0.end != nil } }
        #expect(connection.state.withLock { $0.metrics.messagesReceived } == 2)
        for number in 1...20 {
            let next = try await connection.next()
            #expect(next == .binary(message), "\(number)")
        }
        #expect(try await connection.next() == nil)
        #expect(connection.state.withLock { $0.metrics.wireBytesReceived } == Int64(received.count))
    }

    @Test func `Who reads while another task waits for a message gets an error, and the other one the end`() async throws {
        let line = Line([])
        let connection = connected(over: line)
        let first = Task { try await connection.next() }
        await eventually { connection.state.withLock { $0.inbox.reader != nil } }
        let refusal = Locked<HTTPError?>(nil)
        let second = Task { do { _ = try await connection.next() } catch { refusal.withLock { $0 = error as? HTTPError } } }
        // One that isn't sent away would wait in the place of the first.
        await eventually(within: .seconds(120)) { refusal.withLock { $0 != nil } }
        second.cancel()
        let code = refusal.withLock { $0 }?.code
        try #require(code == .bodyNotReplayable)
        connection.lose(nil)
        let end = await #expect(throws: HTTPError.self) { try await first.value }
        #expect(end?.code == .connectionLost)
    }

    @Test func `Closing in the middle of a message is closing, and no loss`() async throws {
        let line = Line([])
        let connection = connected(over: line)
        let (chunks, source) = AsyncStream.makeStream(of: [UInt8].self)
        let sending = Task { try await connection.send(.binary, chunks: chunks) }
        source.yield([1])
        await eventually { connection.state.withLock { $0.metrics.wireBytesSent > 0 } }
        let closing = Task { try await connection.close(CloseFrame(code: 1000)) }
        await eventually { connection.state.withLock { $0.closing != nil } }
        source.yield([2])
        await #expect(throws: HTTPError.self) { try await sending.value }
        // The server's answer is still waited for.
        #expect(connection.state.withLock { $0.end == nil })
        connection.lose(nil)
        try await closing.value
        #expect(try await connection.next() == nil)
    }

    @Test func `Chunks that end since their sender is cancelled are half a message`() async throws {
        let line = Line([])
        let connection = connected(over: line)
        let (chunks, source) = AsyncStream.makeStream(of: [UInt8].self)
        let sending = Task { try await connection.send(.binary, chunks: chunks) }
        source.yield([1])
        await eventually { connection.state.withLock { $0.metrics.wireBytesSent > 0 } }
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
        #expect(connection.state.withLock { $0.metrics.messagesSent == 0 && $0.end != nil })
    }

    @Test func `A message that waits for another one's chunks fails when the socket ends`() async throws {
        let line = Line([])
        let connection = connected(over: line)
        let (chunks, source) = AsyncStream.makeStream(of: [UInt8].self)
        let first = Task { try await connection.send(.binary, chunks: chunks) }
        source.yield([1])
        await eventually { connection.state.withLock { $0.metrics.wireBytesSent > 0 } }
        let second = Task { try await connection.send(.binary, [2]) }
        connection.lose(nil)
        let failure = await #expect(throws: HTTPError.self) { try await second.value }
        #expect(failure?.code == .connectionLost)
        source.finish()
        await #expect(throws: HTTPError.self) { try await first.value }
    }

    /// Brings its bytes, and takes the first piece that is written, when it is told to; takes no other one.
    private final class SlowLine: TestLine {
        let brings = Gate()
        let takes = Gate()
        private let received: Locked<[[UInt8]]>
        private let isFirst = Locked(true)
        private let isClosed = Gate()

        init(_ received: [UInt8]) { self.received = Locked([received]) }

        nonisolated(nonsending) func next() async throws -> [UInt8]? {
            await brings.wait()
            if let bytes = received.withLock({ $0.popLast() }) { return bytes }
            await isClosed.wait()
            return nil
        }

        nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
            let isFirst = isFirst.lower()
            await (isFirst ? takes : isClosed).wait()
        }

        func close() { for gate in [brings, takes, isClosed] { gate.open() } }
    }

    @Test(
        arguments: [
            // A message that is too large, closes with a code that can't be sent and with half a code, an opcode that there isn't.
            [0x82, 9] + [UInt8](repeating: 0, count: 9), [0x88, 2, 0x03, 0xED], [0x88, 1, 0x03], [0x83, 0],
        ] as [[UInt8]])
    func `A closing that has begun ends as it says though the server then breaks the rules`(received: [UInt8]) async throws {
        let line = SlowLine(received)
        let connection = connected(over: line, WebSocketOptions(maximumMessage: 8))
        let closing = Task { try await connection.close(CloseFrame(code: 1000)) }
        await eventually { connection.state.withLock { $0.closing != nil } }
        // The close frame leaves, the bytes come, and then the end of the connection.
        line.close()
        try await closing.value
        #expect(try await connection.next() == nil)
        #expect((connection.failure.underlying as? WebSocketClosure)?.code == .normal)
    }

    @Test(arguments: [true, false])
    func `A pong may be late while something else comes, or leaves slowly`(comes: Bool) async throws {
        let clock = TestClock()
        // The beginning of a message.
        let line = SlowLine([0x82, 2, 1])
        let connection = connected(over: line, WebSocketOptions(pingInterval: .seconds(20)), on: clock)
        let sending = Task { if !comes { try await connection.send(.binary, [UInt8](repeating: 0, count: 600 << 10)) } }
        if comes { line.takes.open() } else { await eventually { connection.state.withLock { $0.metrics.wireBytesSent > 0 } } }
        await clock.pass(.seconds(20))
        await clock.waitForSleepers(1)
        let movement = comes ? line.brings : line.takes
        movement.open()
        await eventually {
            connection.state.withLock { comes ? $0.metrics.wireBytesReceived > 0 : $0.controls.turns > 0 }
        }
        clock.advance(by: .seconds(9))
        // A frame of somebody else's that still waits is no reason to end it.
        let other = Task { if !comes { _ = try await connection.ping() } }
        let others = comes ? 0 : 1
        await clock.waitForSleepers(1 + others)
        clock.advance(by: .seconds(1))
        await eventually { clock.sleepers > others || connection.state.withLock { $0.end != nil } }
        #expect(connection.state.withLock { $0.end == nil })

        // Nothing moves any more.
        await eventually { !comes || !connection.frames.isTaken }
        clock.advance(by: .seconds(20))
        await clock.pass(.seconds(10))
        let failure = await #expect(throws: HTTPError.self) { try await connection.next() }
        #expect((failure?.underlying as? WebSocketClosure)?.code == .abnormal)
        _ = await sending.result
        _ = await other.result
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `A millisecond passes before each ping, and one at most waits to leave`(time: Duration) async throws {
        let clock = TestClock()
        // More than waits for a reader, so that no pong is missed.
        let line = BlockedLine(FrameWriter.frame(.binary, [UInt8](repeating: 0, count: 300 << 10)))
        let connection = connected(over: line, WebSocketOptions(pingInterval: time, pongTimeout: time), on: clock)
        defer {
            connection.lose(nil)
            line.breaks.open()
        }
        for milliseconds in 1...10 {
            await eventually(within: .seconds(120)) { clock.nextDeadline?.offset == .milliseconds(milliseconds) }
            try #require(clock.nextDeadline?.offset == .milliseconds(milliseconds))
            // The first ping is leaving, and brings what is to be read.
            if milliseconds == 2 { await eventually { connection.state.withLock { $0.inbox.receiver != nil } } }
            clock.advance(by: .milliseconds(1))
        }
        await clock.waitForSleepers(1)
        #expect(connection.state.withLock { $0.controls.takeAll() }.count == 1)
    }

    /// Takes at once what is written, and tells that it hasn't left; brings nothing.
    private final class FullLine: TestLine {
        let written = Locked((pieces: 0, unsent: 0))
        private let isClosed = Gate()

        nonisolated(nonsending) func next() async throws -> [UInt8]? {
            await isClosed.wait()
            return nil
        }

        nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
            written.withLock { $0 = ($0.pieces + 1, $0.unsent + bytes.count) }
        }

        var unsent: Int { written.withLock { $0.unsent } }
        func close() { isClosed.open() }
    }

    @Test func `A pong may be late while what its ping waits behind leaves slowly, though its sender is done`() async throws {
        let clock = TestClock()
        let line = FullLine()
        let connection = connected(over: line, WebSocketOptions(pingInterval: .seconds(20)), on: clock)
        try await connection.send(.binary, [UInt8](repeating: 0, count: 32 << 10))
        await clock.pass(.seconds(20))
        await clock.waitForSleepers(1)
        await eventually { line.written.withLock { $0.pieces } == 2 }
        // Less leaves than follows.
        line.written.withLock { $0.unsent -= 1 << 10 }
        try await connection.send(.binary, [UInt8](repeating: 0, count: 4 << 10))
        clock.advance(by: .seconds(10))
        await eventually { clock.sleepers > 0 || connection.state.withLock { $0.end != nil } }
        try #require(connection.state.withLock { $0.end == nil })

        // Nothing leaves any more.
        await eventually { !connection.frames.isTaken }
        clock.advance(by: .seconds(20))
        await clock.waitForSleepers(1)
        await eventually { line.written.withLock { $0.pieces } == 4 }
        clock.advance(by: .seconds(10))
        let failure = await #expect(throws: HTTPError.self) { try await connection.next() }
        #expect((failure?.underlying as? WebSocketClosure)?.code == .abnormal)
    }
}
