internal import Interception
internal import MidstreamCore

extension HTTPBody {
    /// What comes after the last byte.
    enum Finish: Sendable {
        case end, loss, silence
    }

    /// The body as it arrives slowly, with a pause for each byte, in part, or not to its end: it finishes in one way after so many bytes, and
    /// where there are fewer in another, unless that is nil.
    func faulty(
        length: Int64?, upTo count: Int = .max, slices: Int = .max, pause: Duration = .zero, then finish: Finish,
        ifShorter shortFinish: Finish? = nil, on clock: any Clock<Duration>
    ) -> HTTPBody {
        let (chunks, silence) = (ChunkReader(self), Silence())
        let state = Locked((rest: ArraySlice<UInt8>(), allowance: Swift.max(0, count)))
        @Sendable func end(_ finish: Finish) async throws -> [UInt8]? {
            if finish == .silence { try await silence.last() }
            close()
            if finish == .end { return nil }
            throw HTTPError(.connectionLost, "Injected: the connection was closed inside of the body.", phase: .answered)
        }
        return .incoming(length: length) {
            while true {
                let (piece, isOver) = state.withLock { state -> ([UInt8], Bool) in
                    let piece = state.rest.prefix(Swift.min(slices, state.allowance))
                    state.rest = state.rest.dropFirst(piece.count)
                    state.allowance -= piece.count
                    return (Array(piece), piece.isEmpty && state.allowance == 0)
                }
                if isOver { return try await end(finish) }
                if !piece.isEmpty {
                    if pause > .zero { try await clock.pause(for: pause * piece.count) }
                    return piece
                }
                guard let chunk = try await chunks.next() else { return try await end(shortFinish ?? finish) }
                state.withLock { $0.rest = chunk[...] }
            }
        } trailers: {
            self.incoming?.trailers
        } metrics: {
            self.incoming?.metrics
        } close: {
            close()
            silence.end()
        }
    }
}

/// A wait for what never comes.
final class Silence: Sendable {
    private let (stream, continuation) = AsyncStream.makeStream(of: Never.self)

    /// Ends when the task is cancelled, or the silence is ended by somebody.
    func last() async throws -> Never {
        for await _ in stream {}
        try Task.checkCancellation()
        throw HTTPError(.connectionLost, "The body was closed.", phase: .answered)
    }

    func end() { continuation.finish() }
}
