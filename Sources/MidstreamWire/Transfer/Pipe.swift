#if os(Linux)
    import Glibc
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamLoop

    /// What is to be sent over a connection that carries another protocol than HTTP.
    ///
    /// `@unchecked Sendable`: touched only on the loop's thread, to which it is carried, but for the backlog behind its lock.
    final class Pipe: @unchecked Sendable {
        /// What sends; nil before the other protocol has begun.
        private(set) weak var connection: HTTP1Connection?
        /// What hasn't left, for writers on any thread.
        private struct Backlog {
            var bytes = 0
            /// Where writers send by themselves while nothing waits, which saves two changes of threads; nil: only the loop sends, as over TLS.
            var socket: Int32?
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

        /// From now on the connection carries the other protocol.
        func begin(on connection: HTTP1Connection) {
            self.connection = connection
            backlog.withLock { $0.socket = connection.channel.plainSocket }
        }

        func append(_ piece: OutgoingPiece) {
            if !backlog.withLock({ $0.isOver }) { pieces.append(piece) }
        }

        /// Sends what can leave at once. The rest is to be appended, and counts as waiting from now on.
        ///
        /// - Returns: How much has left, and whether the writer has to wait for the rest.
        /// - Throws: ``HTTPError`` with ``HTTPError/Code/connectionLost`` when nothing is sent any more.
        func send(_ bytes: [UInt8]) throws -> (sent: Int, waits: Bool) {
            try backlog.withLock { backlog in
                guard !backlog.isOver else { throw OutgoingPiece.lost }
                var sent = 0
                // The socket isn't closed meanwhile: before it is, the pipe ends. What fails here fails on the loop as well, which tells why.
                if let socket = backlog.socket, backlog.bytes == 0 {
                    sent = max(0, bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) })
                }
                backlog.bytes += bytes.count - sent
                return (sent, backlog.bytes > Self.unawaited)
            }
        }

        /// The first piece has left.
        func removeFirst() {
            let piece = pieces[first]
            piece.isTaken()
            backlog.withLock { $0.bytes -= piece.announced }
            first += 1
            if first == pieces.count || first > 64 {
                pieces.removeFirst(first)
                first = 0
            }
        }

        /// Nothing more can be sent; those who wait hear of it.
        func end() {
            backlog.withLock { ($0.isOver, $0.socket) = (true, nil) }
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
        /// How much of them has left.
        var sent: Int
        /// How much of them waits in the backlog until all have.
        let announced: Int
        private let writer: Suspension<Result<Void, any Error>>?

        static var lost: HTTPError { HTTPError(.connectionLost, "The connection is closed.", phase: .answered) }

        init(_ bytes: [UInt8], from sent: Int, _ writer: Suspension<Result<Void, any Error>>?) {
            self.bytes = bytes
            self.sent = sent
            announced = bytes.count - sent
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
            let (sent, waits) = try pipe.send(bytes)
            guard sent < bytes.count else { return }
            guard waits else { return hand(OutgoingPiece(bytes, from: sent, nil)) }
            let suspension = Suspension<Result<Void, any Error>>()
            hand(OutgoingPiece(bytes, from: sent, suspension))
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
