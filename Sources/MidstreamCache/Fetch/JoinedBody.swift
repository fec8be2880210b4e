internal import Interception
internal import MidstreamCore

extension HTTPBody {
    /// Stored bytes, and then those that are arriving, as many as were announced; the length is that of both.
    static func joined(_ stored: HTTPBody, _ arriving: HTTPBody, length: Int64, arriving count: Int64) -> HTTPBody {
        // The stored ones until they have been read, or why they can't be.
        let state = Locked((stored: Result<ChunkReader?, any Error>.success(ChunkReader(stored)), left: count))
        let rest = ChunkReader(arriving)
        return .incoming(length: length) {
            arriving.isTransformed
        } next: {
            do {
                if let chunk = try await state.withLock({ $0.stored }).get()?.next() { return chunk }
                state.withLock { $0.stored = .success(nil) }
            } catch {
                state.withLock { $0.stored = .failure(HTTPError.bodyClosed()) }
                arriving.close()
                throw error
            }
            let chunk = try await rest.next()
            if arriving.isTransformed {
                arriving.close()
                throw HTTPError(
                    .protocolViolation, "What was made of the bytes that came needn't go on with those that are stored.",
                    phase: .answered)
            }
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

    /// The same body, which is forgotten before its reader learns that it isn't what the server has named.
    func forgotten(by forget: @escaping @Sendable () async -> Void) -> HTTPBody {
        let chunks = ChunkReader(self)
        return .incoming(length: length) {
            isTransformed
        } next: {
            do {
                return try await chunks.next()
            } catch let error as HTTPError where error.code == .digestMismatch {
                await forget()
                throw error
            }
        } trailers: {
            incoming?.trailers
        } metrics: {
            incoming?.metrics
        } close: {
            close()
        }
    }
}
