internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

/// A body of stored bytes, and then those that are arriving.
final class JoinedBody: IncomingBody {
    private struct State {
        /// Taken out by the reader while it reads.
        var stored: HTTPBody.AsyncIterator?
        var isSpent = false
        var isClosed = false
    }

    private let state: Locked<State>
    /// What is in memory comes in one piece.
    private let rest: any IncomingBody

    init(_ stored: HTTPBody, _ arriving: HTTPBody) {
        state = Locked(State(stored: stored.makeAsyncIterator()))
        rest = arriving.incoming ?? WholeBody(arriving.bytes ?? [])
    }

    func next() async throws -> [UInt8]? {
        let (taken, isClosed) = state.withLock { state in
            defer { state.stored = nil }
            state.isSpent = true
            return (state.stored, state.isClosed)
        }
        if isClosed { throw HTTPError(.connectionLost, "The body was closed.", phase: .answered) }
        guard var stored = taken else { return try await rest.next() }
        do {
            guard let chunk = try await stored.next() else { return try await rest.next() }
            state.withLock { $0.stored = stored }
            return chunk
        } catch {
            rest.close()
            throw error
        }
    }

    func close() {
        state.withLock { state in
            state.stored = nil
            state.isClosed = true
        }
        rest.close()
    }

    var isSpent: Bool { state.withLock { $0.isSpent } }
    var trailers: HTTPHeaders? { rest.trailers }
    var metrics: TransportMetrics? { rest.metrics }
}

/// Bytes in memory as if they were arriving.
private final class WholeBody: IncomingBody {
    private let bytes: Locked<[UInt8]?>

    init(_ bytes: [UInt8]) { self.bytes = Locked(bytes.isEmpty ? nil : bytes) }

    func next() async throws -> [UInt8]? {
        bytes.withLock { bytes in
            defer { bytes = nil }
            return bytes
        }
    }

    func close() { bytes.withLock { $0 = nil } }
    var isSpent: Bool { bytes.withLock { $0 == nil } }
    var trailers: HTTPHeaders? { nil }
    var metrics: TransportMetrics? { nil }
}
