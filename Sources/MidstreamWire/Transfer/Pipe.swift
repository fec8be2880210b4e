#if os(Linux)
    import Glibc
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamLoop

    /// What is to be sent over a connection that carries another protocol than HTTP.
    ///
    /// `@unchecked Sendable`: `connection` is touched only on the loop's thread, and everything else is behind the backlog's lock.
    final class Pipe: @unchecked Sendable {
        /// What hasn't left.
        private struct Backlog {
            var pieces = Queue<OutgoingPiece>()
            var bytes = 0
            /// Where writers send by themselves while nothing waits, which saves two changes of threads; nil: only the loop sends, as over TLS.
            var socket: Int32?
            /// Wait until all has left.
            var finishers: [Suspension<Void>] = []
            /// Nothing is sent any more.
            var isOver = false
            /// Why a writer couldn't send by itself: what the system has told there it doesn't tell the loop.
            var failure: ChannelFailure?
        }

        /// How many bytes may wait before a writer waits for its own: who writes little needs no change of threads for it.
        private static let unawaited = 64 << 10
        private let backlog = Locked(Backlog())
        /// What sends; nil before the other protocol has begun.
        private(set) weak var connection: (any TransferConnection)?

        // MARK: The writers' side

        /// Sends what can leave at once; the rest, which is returned, waits from now on behind what was written before.
        ///
        /// - Throws: ``HTTPError`` with ``HTTPError/Code/connectionLost`` when nothing is sent any more.
        func send(_ bytes: [UInt8]) throws -> OutgoingPiece? {
            try backlog.withLock { backlog in
                guard !backlog.isOver else { throw OutgoingPiece.lost }
                var sent = 0
                // The socket isn't closed meanwhile: before it is, the pipe ends. What fails here fails on the loop as well.
                if let socket = backlog.socket, backlog.bytes == 0 {
                    let count = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                    if count < 0 { backlog.failure = ChannelFailure.ofSending(errno) }
                    sent = max(0, count)
                }
                guard sent < bytes.count else { return nil }
                backlog.bytes += bytes.count - sent
                let piece = OutgoingPiece(bytes, from: sent, isAwaited: backlog.bytes > Self.unawaited)
                backlog.pieces.append(piece)
                return piece
            }
        }

        /// Returns when all that was written has left, or nothing leaves any more, or the task is cancelled.
        nonisolated(nonsending) func finish() async {
            let suspension = Suspension<Void>()
            let waits = backlog.withLock { backlog in
                guard !backlog.isOver, backlog.bytes > 0 else { return false }
                backlog.finishers.append(suspension)
                return true
            }
            if waits { _ = await suspension.wait() }
        }

        /// How much of what was written hasn't left.
        var unsent: Int { backlog.withLock { $0.bytes } }

        // MARK: The loop's side

        /// From now on the connection carries the other protocol; writers may send by themselves over its socket, where there is one.
        func begin(on connection: any TransferConnection, socket: Int32?) {
            self.connection = connection
            backlog.withLock { $0.socket = socket }
        }

        /// Why the connection's end isn't a clean one, as far as a writer has found out.
        var failure: ChannelFailure? { backlog.withLock { $0.failure } }

        /// What is sent next.
        var piece: OutgoingPiece? { backlog.withLock { $0.pieces.first } }

        /// Notes how much of the first piece has left; true when that is all of it, so that the next one follows.
        func noteLeft(_ count: Int) -> Bool {
            let (piece, finishers) = backlog.withLock { backlog -> (OutgoingPiece?, [Suspension<Void>]) in
                guard let first = backlog.pieces.first else { return (nil, []) }
                let more = max(0, count - first.left)
                first.left += more
                backlog.bytes -= more
                guard first.left == first.bytes.count else { return (nil, []) }
                let piece = backlog.pieces.popFirst()
                guard backlog.bytes == 0 else { return (piece, []) }
                defer { backlog.finishers = [] }
                return (piece, backlog.finishers)
            }
            piece?.isTaken()
            for finisher in finishers { finisher.resume() }
            return piece != nil
        }

        /// Nothing more can be sent; those who wait hear of it.
        func end() {
            connection = nil
            var ended = Backlog()
            ended.isOver = true
            backlog.withLock { backlog in
                ended.failure = backlog.failure
                swap(&backlog, &ended)
            }
            // The release of the pieces tells their writers.
            for finisher in ended.finishers { finisher.resume() }
        }
    }

    /// Bytes whose writer may wait until they have left, or can't any more: its release says so.
    ///
    /// `@unchecked Sendable`: `sent` is touched only on the loop's thread, and `left` behind the backlog's lock.
    final class OutgoingPiece: @unchecked Sendable {
        let bytes: [UInt8]
        /// How much of them the connection has been given.
        var sent: Int
        /// How much of them the system has taken: over TLS the connection keeps what it hasn't.
        var left: Int
        /// What their writer waits for.
        let departure: Suspension<Result<Void, any Error>>?

        static var lost: HTTPError { HTTPError(.connectionLost, "The connection is closed.", phase: .answered) }

        init(_ bytes: [UInt8], from sent: Int, isAwaited: Bool) {
            self.bytes = bytes
            self.sent = sent
            left = sent
            departure = isAwaited ? Suspension() : nil
        }

        deinit { departure?.resume(.failure(Self.lost)) }

        func isTaken() { departure?.resume(.success(())) }
    }

    /// Hands what is written to the loop.
    struct PipeWriter: ByteWriter {
        let pipe: Pipe
        let loop: any TransferLoop

        nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
            try Task.checkCancellation()
            // Not the piece, whose release is the sign that it won't leave.
            guard let departure = try send(bytes) else { return }
            guard case .value(let result) = await departure.wait() else { throw CancellationError() }
            try result.get()
        }

        /// Gives what the writer has to wait for, if anything.
        private func send(_ bytes: [UInt8]) throws -> Suspension<Result<Void, any Error>>? {
            guard let piece = try pipe.send(bytes) else { return nil }
            loop.post(.run { [pipe] in pipe.connection?.send() })
            return piece.departure
        }

        nonisolated(nonsending) func finish() async { await pipe.finish() }

        var unsent: Int { pipe.unsent }
    }
#endif
