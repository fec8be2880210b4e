internal import Interception
internal import MidstreamCore

/// A body that arrives slowly, in part, or not to its end.
final class FaultyBody: IncomingBody {
    /// What comes after the last byte.
    enum Finish: Sendable {
        case end, loss, silence
    }

    private struct State {
        var rest: ArraySlice<UInt8> = []
        var allowance: Int
        var isSpent = false
        var isClosed = false
    }

    private let original: HTTPBody
    private let chunks: ChunkReader
    private let slices: Int
    /// After each byte.
    private let pause: Duration
    private let finish: Finish
    private let shortFinish: Finish
    private let clock: any Clock<Duration>
    private let silence = Silence()
    private let state: Locked<State>

    /// - Parameters:
    ///   - count: After so many bytes it finishes.
    ///   - slices: It comes in pieces no larger than this.
    ///   - pause: It waits so long for each byte.
    ///   - finish: What comes then.
    ///   - shortFinish: What comes when it has fewer; the same by default.
    init(
        _ original: HTTPBody, upTo count: Int = .max, slices: Int = .max, pause: Duration = .zero, then finish: Finish,
        ifShorter shortFinish: Finish? = nil, on clock: any Clock<Duration>
    ) {
        self.original = original
        chunks = ChunkReader(original)
        self.slices = slices
        self.pause = pause
        self.finish = finish
        self.shortFinish = shortFinish ?? finish
        self.clock = clock
        state = Locked(State(allowance: max(0, count)))
    }

    var isSpent: Bool { state.withLock { $0.isSpent } }
    var trailers: HTTPHeaders? { original.incoming?.trailers }
    var metrics: TransportMetrics? { original.incoming?.metrics }

    func next() async throws -> [UInt8]? {
        state.withLock { $0.isSpent = true }
        while true {
            let (piece, isOver) = try state.withLock { state -> ([UInt8], Bool) in
                if state.isClosed { throw HTTPError(.connectionLost, "The body was closed.", phase: .answered) }
                let piece = state.rest.prefix(min(slices, state.allowance))
                state.rest = state.rest.dropFirst(piece.count)
                state.allowance -= piece.count
                return (Array(piece), piece.isEmpty && state.allowance == 0)
            }
            if isOver { return try await finish(finish) }
            if !piece.isEmpty {
                if pause > .zero { try await clock.pause(for: pause * piece.count) }
                return piece
            }
            guard let chunk = try await chunks.next() else { return try await finish(shortFinish) }
            state.withLock { $0.rest = chunk[...] }
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        original.close()
        silence.end()
    }

    private func finish(_ finish: Finish) async throws -> [UInt8]? {
        switch finish {
        case .end:
            original.close()
            return nil
        case .silence: try await silence.last()
        case .loss:
            original.close()
            throw HTTPError(.connectionLost, "Injected: the connection was closed inside of the body.", phase: .answered)
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
