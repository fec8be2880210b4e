import Interception
import MidstreamCore
import MidstreamTesting
import Testing

/// A body that is arriving as far as anyone can tell, and knows whether it was closed.
final class ArrivingBody: IncomingBody {
    private struct State {
        var chunks: [[UInt8]]
        var isSpent = false
        var closings = 0
    }
    private let state: Locked<State>
    private let failure: (any Error)?

    init(_ chunks: [[UInt8]] = [Array("hello".utf8)], thenThrowing failure: (any Error)? = nil) {
        state = Locked(State(chunks: chunks))
        self.failure = failure
    }

    var closings: Int { state.withLock { $0.closings } }
    var isSpent: Bool { state.withLock { $0.isSpent } }
    var trailers: HTTPHeaders? { isAtEnd ? ["X-Trailer": "end"] : nil }
    var metrics: TransportMetrics? { isAtEnd ? TransportMetrics() : nil }
    private var isAtEnd: Bool { state.withLock { $0.isSpent && $0.chunks.isEmpty } }

    func next() async throws -> [UInt8]? {
        let chunk = try state.withLock { state in
            if state.closings > 0 { throw HTTPError(.connectionLost) }
            state.isSpent = true
            return state.chunks.isEmpty ? nil : state.chunks.removeFirst()
        }
        if chunk == nil, let failure { throw failure }
        return chunk
    }

    func close() { state.withLock { $0.closings += 1 } }
}

/// Chunks given one by one.
func chunks(_ texts: String...) -> AsyncStream<[UInt8]> {
    AsyncStream { continuation in
        for text in texts { continuation.yield(Array(text.utf8)) }
        continuation.finish()
    }
}

extension StubTransport {
    /// Answers 200 to everything, at once.
    static var ok: StubTransport { StubTransport(status: .ok) }
}

extension HTTPBody {
    var text: String { String(decoding: bytes ?? [], as: UTF8.self) }
}
