#if os(Linux)
    internal import MidstreamLoop

    /// How far a connection has come with a request.
    struct SendingState {
        /// The head, or a piece of a body that is read bit by bit.
        fileprivate var piece: [UInt8] = []
        fileprivate var sent = 0
        /// Where the body's own bytes are in it.
        fileprivate var payload = 0..<0
        /// The body's last piece has been made.
        fileprivate var isLast = false
        /// Nothing is sent any more: the connection takes nothing.
        fileprivate var isBroken = false

        init(head: [UInt8] = []) { piece = head }

        fileprivate var hasRest: Bool { sent < piece.count }

        fileprivate mutating func giveUpPiece() {
            piece = []
            sent = 0
            payload = 0..<0
        }
    }

    extension HTTP1Connection {
        /// How much is sent before other connections have their turn.
        static let sendingTurn = 1 << 20
        /// How much of a body is read at once.
        private static let pieceSize = 64 << 10

        func send() {
            assert(loop.isCurrent)
            if let transfer, let pipe = transfer.pipe, pipe.connection != nil { return send(pipe, transfer) }
            guard let transfer, !sending.isBroken, !transfer.sent.isWhole else { return }
            var rest = Self.sendingTurn
            while sending.hasRest || isBodyInMemoryLeft(transfer) || takePiece(transfer) {
                guard let count = write(transfer) else {
                    sending.isBroken = true
                    // The server may have answered before it closed the connection; reading tells. Not at once: what is being read may be
                    // what has brought the body on its way.
                    channel.expectsSomething()
                    loop.post(.resumeReceiving(transfer))
                    return
                }
                guard count > 0 else { return }
                rest -= count
                guard rest > 0 else {
                    loop.post(.resumeSending(transfer))
                    return
                }
            }
        }

        /// Sends some of what is there; nil when the connection takes nothing any more.
        private func write(_ transfer: WireTransfer) -> Int? {
            if !sending.hasRest, case .file(let feeder) = transfer.outgoing { return sendFile(feeder, transfer) }
            let start = sending.sent
            let left = sending.piece.count - start
            var body: [UInt8] = []
            if case .bytes(let bytes) = transfer.outgoing, !transfer.isBodyHeld { body = bytes }
            let count = sending.piece.withUnsafeBytes { piece in
                body.withUnsafeBytes { body in
                    channel.write(
                        UnsafeRawBufferPointer(rebasing: piece[start...]),
                        UnsafeRawBufferPointer(rebasing: body.dropFirst(Int(transfer.sent.bodyBytes))))
                }
            }
            guard let count else { return nil }
            let fromPiece = min(count, left)
            sending.sent += fromPiece
            transfer.sent.bytes += Int64(count)
            transfer.sent.bodyBytes += Int64(count - fromPiece + sending.payload.clamped(to: start..<sending.sent).count)
            // A connection that waits for long, as another protocol's does, keeps nothing of it.
            if !sending.hasRest { sending.giveUpPiece() }
            if count > 0 { transfer.noteActivity() }
            return count
        }

        /// Whether there is more of a body that is sent from where it is. Notes the end of a request without another one.
        private func isBodyInMemoryLeft(_ transfer: WireTransfer) -> Bool {
            let length: Int64
            switch transfer.outgoing {
            case .chunks: return false
            case .none: length = 0
            case .file(let feeder): length = feeder.length
            case .bytes(let bytes): length = Int64(bytes.count)
            }
            if transfer.sent.bodyBytes < length { return !transfer.isBodyHeld }
            transfer.sent.isWhole = true
            return false
        }

        /// Has the system send what is in memory of a file.
        private func sendFile(_ feeder: FileFeeder, _ transfer: WireTransfer) -> Int? {
            let place = transfer.sent.bodyBytes
            let (file, ready) = feeder.ready(behind: place, for: transfer)
            guard ready > 0 else {
                transfer.isSendingPaused = true
                return 0
            }
            switch channel.send(ready, of: file, from: place) {
            case .failed: return nil
            case .wait: return 0
            case .ended:
                loop.post(.fail(transfer, feeder.mismatch(isLonger: false, transfer)))
                return 0
            case .unreadable(let number):
                loop.post(.fail(transfer, feeder.unreadable(number, transfer)))
                return 0
            case .sent(let count):
                transfer.sent.bytes += Int64(count)
                transfer.sent.bodyBytes += Int64(count)
                transfer.noteActivity()
                return count
            }
        }

        /// Makes the next piece of a body that is read bit by bit; false when there is none now, or none any more.
        private func takePiece(_ transfer: WireTransfer) -> Bool {
            guard case .chunks(let feeder) = transfer.outgoing, !transfer.isBodyHeld else { return false }
            let bodyBytes = transfer.sent.bodyBytes
            if sending.isLast || bodyBytes > 0 && feeder.length == bodyBytes && transfer.bodyFraming != .chunked {
                transfer.sent.isWhole = true
                return false
            }
            let isChunked = transfer.bodyFraming == .chunked
            var taken: Int?
            // The size and its line's end come before the bytes, and a line's end after them (RFC 9112 §7.1).
            let before = isChunked ? 8 : 0
            var piece = [UInt8](unsafeUninitializedCapacity: before + Self.pieceSize + 2) { buffer, count in
                buffer[..<before].initialize(repeating: 0)
                let room = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[before..<(before + Self.pieceSize)])
                taken = feeder.read(into: room, for: transfer)
                if let taken { count = before + taken }
            }
            switch taken {
            case nil:
                transfer.isSendingPaused = true
                return false
            case 0?:
                sending.isLast = true
                sending.piece = isChunked ? lastChunk(transfer) : []
                transfer.sent.isWhole = !isChunked
                return isChunked
            case let size?:
                sending.payload = before..<(before + size)
                if isChunked {
                    let line = Array("\(String(size, radix: 16))\r\n".utf8)
                    sending.sent = before - line.count
                    piece.replaceSubrange(sending.sent..<before, with: line)
                    piece += [13, 10]
                }
                sending.piece = piece
                return true
            }
        }

        private func lastChunk(_ transfer: WireTransfer) -> [UInt8] {
            var chunk = Array("0\r\n".utf8)
            for line in RequestFields.trailers(of: transfer.request) { chunk += line + [13, 10] }
            return chunk + [13, 10]
        }
    }
#endif
