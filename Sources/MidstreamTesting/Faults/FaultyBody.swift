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
                let (piece, allowance) = state.withLock { ($0.rest.prefix(Swift.min(slices, $0.allowance)), $0.allowance) }
                if !piece.isEmpty {
                    // Taken only then: a reader that is cancelled meanwhile has had nothing of it.
                    if pause > .zero { try await clock.pause(for: pause * piece.count) }
                    state.withLock { $0 = ($0.rest.dropFirst(piece.count), allowance - piece.count) }
                    return Array(piece)
                }
                if allowance == 0 { return try await end(finish) }
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
