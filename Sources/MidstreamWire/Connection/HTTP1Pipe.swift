#if os(Linux)
    internal import MidstreamLoop

    /// Connections that carry another protocol than HTTP, from the beginning or after a response that says so (RFC 9110 §7.8).
    extension HTTP1Connection {
        /// Gives the transfer's caller the connection, on which nothing has been sent.
        func openPipe(_ pipe: Pipe, _ transfer: WireTransfer) {
            transfer.openStream(isPiped: true)
            switchProtocols(pipe)
            // The server may have spoken already.
            loop.post(.resumeReceiving(transfer))
        }

        /// From now on all that comes is the body, to the connection's end.
        func switchProtocols(_ pipe: Pipe) {
            reader.begin(.connection)
            pipe.begin(on: self, socket: channel.plainSocket)
        }

        func send(_ pipe: Pipe, _ transfer: WireTransfer) {
            var rest = Self.sendingTurn
            while let piece = pipe.piece {
                let count = piece.bytes.withUnsafeBytes { channel.write(UnsafeRawBufferPointer(rebasing: $0[piece.sent...])) }
                guard let count else {
                    pipe.end()
                    // What the other side has sent before it closed the connection can still be read.
                    channel.expectsSomething()
                    return receive()
                }
                piece.sent += count
                guard pipe.noteLeft(piece.sent - channel.unsent) || count > 0 else { return }
                rest -= count
                guard rest > 0 else {
                    loop.post(.resumeSending(transfer))
                    return
                }
            }
        }
    }
#endif
