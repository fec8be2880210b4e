internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

/// A body of stored bytes, and then those that are arriving, as many as were announced.
final class JoinedBody: IncomingBody {
    private struct State {
        /// Taken out by the reader while it reads.
        var stored: HTTPBody.AsyncIterator?
        var isSpent = false
        var isClosed = false
        /// How many bytes are to arrive.
        var left: Int64
    }

    private let state: Locked<State>
    /// What is in memory comes in one piece.
    private let rest: any IncomingBody

    /// - Parameter count: How many bytes are to arrive.
    init(_ stored: HTTPBody, _ arriving: HTTPBody, count: Int64) {
        state = Locked(State(stored: stored.makeAsyncIterator(), left: count))
        rest = arriving.incoming ?? WholeBody(arriving.bytes ?? [])
    }

    func next() async throws -> [UInt8]? {
        let (taken, isClosed) = state.withLock { state in
            defer { state.stored = nil }
            state.isSpent = true
            return (state.stored, state.isClosed)
        }
        if isClosed { throw HTTPError(.connectionLost, "The body was closed.", phase: .answered) }
        guard var stored = taken else { return try await arriving() }
        do {
            guard let chunk = try await stored.next() else { return try await arriving() }
            state.withLock { $0.stored = stored }
            return chunk
        } catch {
            rest.close()
            throw error
        }
    }

    /// The next of those that are arriving. The length that the reader was told is the cache's, so that the cache answers for it.
    private func arriving() async throws -> [UInt8]? {
        let chunk = try await rest.next()
        let left = state.withLock { state in
            state.left -= Int64(chunk?.count ?? 0)
            return state.left
        }
        guard left >= 0 else {
            rest.close()
            throw HTTPError(.protocolViolation, "More bytes came than were announced.", phase: .answered)
        }
        if chunk == nil, left > 0 {
            throw HTTPError(.connectionLost, "The body ended \(left) bytes before its end.", phase: .answered)
        }
        return chunk
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
