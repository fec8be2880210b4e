#if os(Linux)
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamLoop

    /// What is to be sent over a connection that carries another protocol than HTTP.
    ///
    /// `@unchecked Sendable`: touched only on the loop's thread, to which it is carried.
    final class Pipe: @unchecked Sendable {
        /// What sends; nil before the other protocol has begun.
        weak var connection: (any TransferConnection)?
        /// Nothing is sent any more.
        private var isOver = false
        private var pieces: [OutgoingPiece] = []
        /// Those before it have left.
        private var first = 0

        /// What is sent next.
        var piece: OutgoingPiece? { first < pieces.count ? pieces[first] : nil }

        func append(_ piece: OutgoingPiece) {
            if !isOver { pieces.append(piece) }
        }

        /// The first piece has left.
        func removeFirst() {
            pieces[first].isTaken()
            first += 1
            if first == pieces.count || first > 64 {
                pieces.removeFirst(first)
                first = 0
            }
        }

        /// Nothing more can be sent; those who wait hear of it.
        func end() {
            isOver = true
            pieces = []
            first = 0
            connection = nil
        }
    }

    /// Bytes whose writer waits until they have left, or can't any more: its release says so.
    ///
    /// `@unchecked Sendable`: `sent` is touched only on the loop's thread.
    final class OutgoingPiece: @unchecked Sendable {
        let bytes: [UInt8]
        var sent = 0
        private let writer: Suspension<Result<Void, any Error>>

        init(_ bytes: [UInt8], _ writer: Suspension<Result<Void, any Error>>) {
            self.bytes = bytes
            self.writer = writer
        }

        deinit { writer.resume(.failure(HTTPError(.connectionLost, "The connection is closed.", phase: .answered))) }

        func isTaken() { writer.resume(.success(())) }
    }

    /// Hands what is written to the loop.
    struct PipeWriter: ByteWriter {
        let pipe: Pipe
        let loop: any TransferLoop

        nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
            try Task.checkCancellation()
            let suspension = Suspension<Result<Void, any Error>>()
            hand(OutgoingPiece(bytes, suspension))
            guard case .value(let result) = await suspension.wait() else { throw CancellationError() }
            try result.get()
        }

        private func hand(_ piece: OutgoingPiece) {
            loop.post(
                .run { [pipe] in
                    pipe.append(piece)
                    pipe.connection?.send()
                })
        }
    }
#endif
