internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

/// A body of stored bytes, and then those that are arriving, as many as were announced.
final class JoinedBody: IncomingBody {
    private struct State {
        /// Nil when they have been read.
        var stored: ChunkReader?
        var isSpent = false
        var isClosed = false
        /// How many bytes are to arrive.
        var left: Int64
    }

    private let state: Locked<State>
    private let arriving: HTTPBody
    private let rest: ChunkReader

    /// - Parameter count: How many bytes are to arrive.
    init(_ stored: HTTPBody, _ arriving: HTTPBody, count: Int64) {
        state = Locked(State(stored: ChunkReader(stored), left: count))
        self.arriving = arriving
        rest = ChunkReader(arriving)
    }

    func next() async throws -> [UInt8]? {
        let (stored, isClosed) = state.withLock { state in
            state.isSpent = true
            return (state.stored, state.isClosed)
        }
        if isClosed { throw HTTPError(.connectionLost, "The body was closed.", phase: .answered) }
        guard let stored else { return try await nextArriving() }
        do {
            if let chunk = try await stored.next() { return chunk }
        } catch {
            close()
            throw error
        }
        state.withLock { $0.stored = nil }
        return try await nextArriving()
    }

    /// The next of those that are arriving. The length that the reader was told is the cache's, so that the cache answers for it.
    private func nextArriving() async throws -> [UInt8]? {
        let chunk = try await rest.next()
        let left = state.withLock { state in
            state.left -= Int64(chunk?.count ?? 0)
            return state.left
        }
        guard left >= 0 else {
            close()
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
        arriving.close()
    }

    var isSpent: Bool { state.withLock { $0.isSpent } }
    var trailers: HTTPHeaders? { arriving.incoming?.trailers }
    var metrics: TransportMetrics? { arriving.incoming?.metrics }
}
