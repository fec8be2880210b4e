import Interception
import MidstreamCore
import MidstreamWebSocket
import TestSupport
import Testing
import WebSocketFrames

@testable import MidstreamURLSession

/// What is made of the system's sockets on Apple's platforms, over one that does what the test says.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct FramedSocketTests {
    private let system = ScriptedSocket()

    private func client(_ fields: HTTPHeaders = [:], subprotocol: String? = nil) -> HTTPClient {
        testClient(transport: SystemTransport(socket: system, fields: fields, subprotocol: subprotocol))
    }

    private func connect() async throws -> WebSocket { try await client().webSocket("ws://example.com/feed").connect() }

    @Test func `Messages go both ways, whole`() async throws {
        let socket = try await connect()
        system.receive(.text("hello"))
        system.receive(.binary([]))
        system.receive(.binary([UInt8](repeating: 7, count: 70_000)))
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        #expect(try await messages.next() == .binary([]))
        #expect(try await messages.next() == .binary([UInt8](repeating: 7, count: 70_000)))
        let long = [UInt8](repeating: 9, count: 1 << 20)
        try await socket.send("é")
        try await socket.send(long)
        let (chunks, source) = AsyncStream.makeStream(of: [UInt8].self)
        for chunk in [[1], [2, 3]] as [[UInt8]] { source.yield(chunk) }
        source.finish()
        try await socket.send(.binary, chunks: chunks)
        #expect(system.sent == [.text("é"), .binary(long), .binary([1, 2, 3])])
    }

    @Test func `The answer fits what was asked, and compression isn't offered`() async throws {
        let client = client(["Set-Cookie": "a=b", "Sec-WebSocket-Accept": "of another key"], subprotocol: "v2")
        let socket = try await client.webSocket("ws://example.com/feed", protocols: ["v1", "v2"]) {
            $0.compression = .offered
            $0.maximumMessage = 5_000_000
        }.connect()
        #expect(socket.subprotocol == "v2" && !socket.isCompressing)
        #expect(socket.response.status.code == 101 && socket.response.headers[.setCookie] == "a=b")
        let request = socket.response.request
        #expect(request.messageLimit == 5_000_000)
        #expect(
            request.withoutUpgrade().headers.map(\.name.rawValue).filter { $0.hasPrefix("Sec-") } == ["Sec-WebSocket-Protocol"])
        #expect(request.withoutUpgrade().headers["Upgrade"] == nil)
        // One that wasn't offered is refused, as anywhere.
        await #expect(throws: HTTPError.self) {
            try await self.client(subprotocol: "v3").webSocket("ws://example.com/").connect()
        }
    }

    @Test func `Pings are answered by the system's pongs`() async throws {
        let socket = try await connect()
        #expect(try await socket.ping() > .zero)
        #expect(system.pings == 1)
    }

    @TaskLocal fileprivate static var call: Int?

    @Test func `What is done for a socket is no part of the call that reads and writes it`() async throws {
        let framed = FramedSocket(system)
        let body = FramedBody(framed)
        let reading = Self.$call.withValue(1) { Task { try await body.next() } }
        try await Self.$call.withValue(1) { try await framed.write(FrameWriter.frame(.ping, [7], mask: 1)) }
        #expect(try await reading.value == FrameWriter.frame(.pong, [7]))
        await eventually { system.calls.count == 2 }
        #expect(system.calls == [nil, nil])
        body.close()
    }

    @Test func `At most one message is taken from the system before it is read`() async throws {
        let body = FramedBody(FramedSocket(system))
        for number in 0..<5 { system.receive(.text("\(number)")) }
        for number in 0..<5 {
            #expect(try await body.next() == FrameWriter.frame(.text, Array("\(number)".utf8)))
            await eventually { system.asked >= min(number + 2, 6) - 1 }
            #expect(system.asked <= number + 2)
        }
        body.close()
    }

    @Test func `Both sides may close`() async throws {
        let ours = try await connect()
        try await ours.close(.normal, "bye")
        #expect(system.closed == CloseFrame(code: 1000, reason: "bye"))
        #expect(ours.closure == WebSocketClosure(code: .normal, reason: "bye", byPeer: false))

        for (code, isClean) in [(1000 as UInt16?, true), (4_001, false), (nil, false)] {
            let system = ScriptedSocket()
            let client = testClient(transport: SystemTransport(socket: system, fields: [:], subprotocol: nil))
            let theirs = try await client.webSocket("ws://example.com/").connect()
            system.receive(.text("last"))
            system.end(closure: CloseFrame(code: code, reason: code == nil ? "" : "as asked"))
            var messages = theirs.makeAsyncIterator()
            #expect(try await messages.next() == .text("last"))
            if isClean {
                #expect(try await messages.next() == nil)
            } else {
                await #expect(throws: HTTPError.self) { try await messages.next() }
            }
            #expect(theirs.closure?.code.rawValue == code ?? 1005 && theirs.closure?.byPeer == true)
        }
    }

    @Test func `A connection that is lost ends reading and sending`() async throws {
        let socket = try await connect()
        system.end(closure: nil)
        var messages = socket.makeAsyncIterator()
        let error = await #expect(throws: HTTPError.self) { try await messages.next() }
        #expect(error?.code == .connectionLost && socket.closure?.code == .abnormal)
        await #expect(throws: HTTPError.self) { try await socket.send("late") }
    }

    @Test func `What the server has sent and closed with is told, though a send finds the end first`() async throws {
        let framed = FramedSocket(system)
        let body = FramedBody(framed)
        let closure = CloseFrame(code: 1012, reason: "restart")
        system.receive(.text("last"))
        system.end(closure: closure)
        await #expect(throws: HTTPError.self) { try await framed.write(FrameWriter.frame(.text, [65], mask: 1)) }
        #expect(try await body.next() == FrameWriter.frame(.text, Array("last".utf8)))
        #expect(try await body.next() == FrameWriter.frame(.close, closure.payload))
        #expect(try await body.next() == nil)
    }

    @Test func `Whoever the system forgets waits no longer than the socket lasts`() async throws {
        struct Lost: Error {}
        let answers = SocketAnswers()
        let message = try await answers.wait { $0.resume(.success(.text("hello"))) }
        #expect(message == .text("hello"))
        #expect(try await answers.wait { $0.finish(nil) } == nil)
        await #expect(throws: Lost.self) { try await answers.wait { $0.finish(Lost()) } }
        let asked = Suspension<Void>()
        let forgotten = Task { try await answers.wait { _ in asked.resume() } }
        await asked.value()
        answers.end(Lost())
        await #expect(throws: Lost.self) { try await forgotten.value }
        await #expect(throws: Lost.self) { try await answers.wait { _ in } }
    }

    @Test func `A socket that is released, or whose reader is cancelled in the channel, ends the system's`() async throws {
        var socket: WebSocket? = try await connect()
        #expect(socket != nil && !system.isAbandoned)
        socket = nil
        await eventually { system.isAbandoned }

        let other = ScriptedSocket()
        let body = FramedBody(FramedSocket(other))
        let reading = Task { try await body.next() }
        await eventually { other.asked == 1 }
        body.close()
        await #expect(throws: HTTPError.self) { try await reading.value }
        #expect(other.isAbandoned)
    }
}

/// Answers each upgrade as the system would.
private struct SystemTransport: ExchangeTransport {
    let socket: ScriptedSocket
    let fields: HTTPHeaders
    let subprotocol: String?

    var keepsTime: Bool { true }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request, ExchangeOptions()) }

    func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
        request.switchingProtocols(fields, subprotocol: subprotocol, over: socket)
    }
}

private final class ScriptedSocket: MessageSocket {
    private struct Ended: Error {}

    private struct State {
        var waiting: [SocketMessage] = []
        var receiver: Suspension<Void>?
        var sent: [SocketMessage] = []
        var pings = 0
        var asked = 0
        var calls: [Int?] = []
        var closed: CloseFrame?
        var closure: CloseFrame?
        var isOver = false
        var isAbandoned = false
    }

    private let state = Locked(State())

    var sent: [SocketMessage] { state.withLock { $0.sent } }
    var pings: Int { state.withLock { $0.pings } }
    /// How often a message was asked for.
    var asked: Int { state.withLock { $0.asked } }
    /// In which call messages and pongs were asked for, each time.
    var calls: [Int?] { state.withLock { $0.calls } }
    var closed: CloseFrame? { state.withLock { $0.closed } }
    var closure: CloseFrame? { state.withLock { $0.closure } }
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    private func change(_ change: (inout State) -> Void) {
        let receiver = state.withLock { state in
            change(&state)
            defer { state.receiver = nil }
            return state.receiver
        }
        receiver?.resume()
    }

    func receive(_ message: SocketMessage) { change { $0.waiting.append(message) } }

    func end(closure: CloseFrame?) {
        change { state in
            state.closure = closure
            state.isOver = true
        }
    }

    func send(_ message: SocketMessage) async throws {
        guard !state.withLock({ $0.isOver }) else { throw Ended() }
        state.withLock { $0.sent.append(message) }
    }

    func receive() async throws -> SocketMessage {
        state.withLock { state in
            state.asked += 1
            state.calls.append(FramedSocketTests.call)
        }
        while true {
            let receiver = Suspension<Void>()
            let (message, isOver) = state.withLock { state -> (SocketMessage?, Bool) in
                guard state.waiting.isEmpty else { return (state.waiting.removeFirst(), false) }
                if !state.isOver { state.receiver = receiver }
                return (nil, state.isOver)
            }
            if let message { return message }
            if isOver { throw Ended() }
            _ = await receiver.wait()
        }
    }

    func ping() async throws {
        state.withLock { state in
            state.pings += 1
            state.calls.append(FramedSocketTests.call)
        }
    }

    func close(_ frame: CloseFrame) {
        change { state in
            state.closed = frame
            state.isOver = true
        }
    }

    func abandon() {
        change { state in
            state.isAbandoned = true
            state.isOver = true
        }
    }
}
