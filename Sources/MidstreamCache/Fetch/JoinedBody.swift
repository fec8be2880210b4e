internal import Interception
internal import MidstreamCore

extension HTTPBody {
    /// Stored bytes, and then those that are arriving, as many as were announced.
    ///
    /// - Parameters:
    ///   - length: That of both.
    ///   - count: How many bytes are to arrive.
    static func joined(_ stored: HTTPBody, _ arriving: HTTPBody, length: Int64, arriving count: Int64) -> HTTPBody {
        // The stored ones until they have been read, or why they can't be.
        let state = Locked((stored: Result<ChunkReader?, any Error>.success(ChunkReader(stored)), left: count))
        let rest = ChunkReader(arriving)
        return .incoming(length: length) {
            do {
                if let chunk = try await state.withLock({ $0.stored }).get()?.next() { return chunk }
                state.withLock { $0.stored = .success(nil) }
            } catch {
                state.withLock { $0.stored = .failure(HTTPError.bodyClosed()) }
                arriving.close()
                throw error
            }
            let chunk = try await rest.next()
            let left = state.withLock { state in
                state.left -= Int64(chunk?.count ?? 0)
                return state.left
            }
            // The length that the reader was told is the cache's, so that the cache answers for it.
            guard left >= 0 else {
                arriving.close()
                throw HTTPError(.protocolViolation, "More bytes came than were announced.", phase: .answered)
            }
            if chunk == nil, left > 0 {
                throw HTTPError(.connectionLost, "The body ended \(left) bytes before its end.", phase: .answered)
            }
            return chunk
        } trailers: {
            arriving.incoming?.trailers
        } metrics: {
            arriving.incoming?.metrics
        } close: {
            state.withLock { $0.stored = .success(nil) }
            arriving.close()
        }
    }
}

/// A body of which nobody knows before its end whether it is what the server has named.
final class DoubtfulBody: IncomingBody {
    private let source: any IncomingBody
    private let forget: @Sendable () async -> Void

    /// - Parameter forget: Waited for before the reader learns that the body is another.
    init(_ source: any IncomingBody, forget: @escaping @Sendable () async -> Void) {
        self.source = source
        self.forget = forget
    }

    func next() async throws -> [UInt8]? {
        do {
            return try await source.next()
        } catch let error as HTTPError where error.code == .digestMismatch {
            await forget()
            throw error
        }
    }

    func close() { source.close() }
    var isSpent: Bool { source.isSpent }
    var trailers: HTTPHeaders? { source.trailers }
    var metrics: TransportMetrics? { source.metrics }
}
