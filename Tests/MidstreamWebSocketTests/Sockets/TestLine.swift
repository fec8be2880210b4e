import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import WebSocketFrames

/// Both directions of a connection, of which the test decides what they do.
protocol TestLine: IncomingBody, ByteWriter {}

extension TestLine {
    var isSpent: Bool { true }
    var trailers: HTTPHeaders? { nil }
    var metrics: TransportMetrics? { nil }
}

/// Takes nothing of what is written, brings its bytes meanwhile, and breaks when it is told to; what it brings can still be read then.
final class BlockedLine: TestLine {
    private let received: Locked<[[UInt8]]>
    private let isWritten = Gate()
    private let isClosed = Gate()
    let breaks = Gate()

    init(_ received: [UInt8]) { self.received = Locked([received]) }

    nonisolated(nonsending) func next() async throws -> [UInt8]? {
        await isWritten.wait()
        if let bytes = received.withLock({ $0.popLast() }) { return bytes }
        await isClosed.wait()
        return nil
    }

    nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
        isWritten.open()
        await breaks.wait()
        try Task.checkCancellation()
        isClosed.open()
        throw HTTPError(.connectionLost, "The connection was reset.", phase: .answered)
    }

    func close() { isClosed.open() }
}

extension StubTransport {
    /// Agrees to a socket, over this line.
    init(socketOver line: some TestLine) {
        self.init { request in
            let key = request.headers["Sec-WebSocket-Key"] ?? ""
            var response = HTTPResponse(
                status: 101,
                headers: [
                    "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": HandshakeKey.answer(to: key),
                ], body: .incoming(line), request: request)
            response.writer = line
            return response
        }
    }
}

extension TestClock {
    /// Moves the time forward as soon as somebody waits for it.
    func pass(_ time: Duration) async {
        await waitForSleepers(1)
        advance(by: time)
    }
}
