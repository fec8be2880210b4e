internal import Interception
package import MidstreamCore
package import MidstreamTesting

/// A body that is arriving as far as anyone can tell, and knows whether it was closed.
package final class ArrivingBody: IncomingBody {
    private struct State {
        var chunks: [[UInt8]]
        var isSpent = false
        var closings = 0
    }
    private let state: Locked<State>
    private let failure: (any Error)?

    package init(_ chunks: [[UInt8]] = [Array("hello".utf8)], thenThrowing failure: (any Error)? = nil) {
        state = Locked(State(chunks: chunks))
        self.failure = failure
    }

    package var closings: Int { state.withLock { $0.closings } }
    package var isSpent: Bool { state.withLock { $0.isSpent } }
    package var trailers: HTTPHeaders? { isAtEnd ? ["X-Trailer": "end"] : nil }
    package var metrics: TransportMetrics? { isAtEnd ? TransportMetrics() : nil }
    private var isAtEnd: Bool { state.withLock { $0.isSpent && $0.chunks.isEmpty } }

    package func next() async throws -> [UInt8]? {
        let chunk = try state.withLock { state in
            if state.closings > 0 { throw HTTPError(.connectionLost) }
            state.isSpent = true
            return state.chunks.isEmpty ? nil : state.chunks.removeFirst()
        }
        if chunk == nil, let failure { throw failure }
        return chunk
    }

    package func close() { state.withLock { $0.closings += 1 } }
}

/// A body that has arrived before anybody reads it, unless it is still to come.
package final class ArrivedBody: ReadyBody {
    private let body: ArrivingBody
    private let bytes: [UInt8]
    private let isLate: Bool
    private let isTaken = Locked(false)

    package init(_ bytes: [UInt8], isLate: Bool = false) {
        body = ArrivingBody([bytes])
        self.bytes = bytes
        self.isLate = isLate
    }

    package func takeAll() -> [UInt8]? {
        guard !isLate, !isSpent else { return nil }
        isTaken.withLock { $0 = true }
        return bytes
    }

    package func next() async throws -> [UInt8]? { try await body.next() }
    package func close() { body.close() }
    package var closings: Int { body.closings }
    package var isSpent: Bool { isTaken.withLock { $0 } || body.isSpent }
    package var trailers: HTTPHeaders? { isTaken.withLock { $0 } ? ["X-Trailer": "end"] : body.trailers }
    package var metrics: TransportMetrics? { isTaken.withLock { $0 } ? TransportMetrics() : body.metrics }
}

/// Chunks given one by one.
package func chunks(_ texts: String...) -> AsyncStream<[UInt8]> {
    AsyncStream { continuation in
        for text in texts { continuation.yield(Array(text.utf8)) }
        continuation.finish()
    }
}

extension StubTransport {
    /// Answers 200 to everything, at once.
    package static var ok: StubTransport { StubTransport(status: .ok) }
}

extension HTTPHeaders {
    /// A sum, and a key that is marked as sensitive.
    package static var sumAndKey: HTTPHeaders {
        var fields: HTTPHeaders = ["X-Sum": "1", "X-Key": "secret"]
        fields.markSensitive("X-Key")
        return fields
    }
}

extension HTTPBody {
    package var text: String { String(decoding: bytes ?? [], as: UTF8.self) }
}
