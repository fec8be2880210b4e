#if os(Linux)
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamLoop

    /// What is to be sent over a connection that carries another protocol than HTTP.
    ///
    /// `@unchecked Sendable`: touched only on the loop's thread, to which it is carried, but for the backlog behind its lock.
    final class Pipe: @unchecked Sendable {
        /// What sends; nil before the other protocol has begun.
        weak var connection: (any TransferConnection)?
        /// What hasn't left, for writers on any thread.
        private struct Backlog {
            var bytes = 0
            /// Nothing is sent any more.
            var isOver = false
        }

        /// How many bytes may wait before a writer waits for its own: who writes little needs no change of threads for it.
        private static let unawaited = 64 << 10
        private let backlog = Locked(Backlog())
        private var pieces: [OutgoingPiece] = []
        /// Those before it have left.
        private var first = 0

        /// What is sent next.
        var piece: OutgoingPiece? { first < pieces.count ? pieces[first] : nil }

        func append(_ piece: OutgoingPiece) {
            if !backlog.withLock({ $0.isOver }) { pieces.append(piece) }
        }

        /// Counts bytes that will be appended; returns whether their writer has to wait for them.
        ///
        /// - Throws: ``HTTPError`` with ``HTTPError/Code/connectionLost`` when nothing is sent any more.
        func announce(_ count: Int) throws -> Bool {
            try backlog.withLock { backlog in
                guard !backlog.isOver else { throw OutgoingPiece.lost }
                backlog.bytes += count
                return backlog.bytes > Self.unawaited
            }
        }

        /// The first piece has left.
        func removeFirst() {
            let piece = pieces[first]
            piece.isTaken()
            backlog.withLock { $0.bytes -= piece.bytes.count }
            first += 1
            if first == pieces.count || first > 64 {
                pieces.removeFirst(first)
                first = 0
            }
        }

        /// Nothing more can be sent; those who wait hear of it.
        func end() {
            backlog.withLock { $0.isOver = true }
            pieces = []
            first = 0
            connection = nil
        }
    }

    /// Bytes whose writer may wait until they have left, or can't any more: its release says so.
    ///
    /// `@unchecked Sendable`: `sent` is touched only on the loop's thread.
    final class OutgoingPiece: @unchecked Sendable {
        let bytes: [UInt8]
        var sent = 0
        private let writer: Suspension<Result<Void, any Error>>?

        static var lost: HTTPError { HTTPError(.connectionLost, "The connection is closed.", phase: .answered) }

        init(_ bytes: [UInt8], _ writer: Suspension<Result<Void, any Error>>?) {
            self.bytes = bytes
            self.writer = writer
        }

        deinit { writer?.resume(.failure(Self.lost)) }

        func isTaken() { writer?.resume(.success(())) }
    }

    /// Hands what is written to the loop.
    struct PipeWriter: ByteWriter {
        let pipe: Pipe
        let loop: any TransferLoop

        nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
            try Task.checkCancellation()
            guard try pipe.announce(bytes.count) else { return hand(OutgoingPiece(bytes, nil)) }
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
