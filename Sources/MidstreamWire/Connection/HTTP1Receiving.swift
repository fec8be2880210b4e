#if os(Linux)
    internal import MidstreamCore
    internal import MidstreamLoop

    extension HTTP1Connection {
        /// How often is read before other connections have their turn.
        private static let turn = 16

        /// What has become of a piece that was received.
        private enum Progress {
            /// More is needed.
            case more
            /// The rest is to be taken later.
            case later
            /// The transfer has ended.
            case over
        }

        func receive() {
            assert(loop.isCurrent)
            guard let transfer, !transfer.isReceivingPaused else { return }
            if !held.isEmpty {
                guard case .more = takeHeld(transfer) else { return }
            }
            for _ in 0..<Self.turn {
                // What it had no room for would be copied.
                guard transfer.hasRoom else { return }
                switch channel.read(atMost: transfer.isPiped ? BodyStream.pipeLimit : .max) {
                case .bytes(let bytes):
                    transfer.noteActivity()
                    transfer.measured.bytes += Int64(bytes.count)
                    if transfer.measured.firstByte == 0 { transfer.measured.firstByte = loop.now }
                    guard case .more = take(bytes, transfer) else { return }
                case .wait:
                    // The socket had room before, and doesn't tell of it again.
                    if channel.sendsAfterReceiving { send() }
                    return
                case .ended(let isClean): return endOfConnection(transfer, isClean: isClean)
                case .failed(let failure): return lose(transfer, failure)
                }
            }
            loop.post(.resumeReceiving(transfer))
        }

        private func endOfConnection(_ transfer: WireTransfer, isClean: Bool) {
            if let failure = transfer.pipe?.failure { return lose(transfer, failure) }
            guard reader.isEndedByConnection else { return lose(transfer, nil) }
            guard isClean else {
                return loop.fail(
                    transfer,
                    HTTPError(
                        .connectionLost, "The connection was closed without TLS's end, so that the body may have been cut.",
                        request: transfer.request, phase: .answered))
            }
            end(transfer, hasLeftover: false)
        }

        // MARK: What was received

        private func take(_ bytes: UnsafeRawBufferPointer, _ transfer: WireTransfer) -> Progress {
            guard held.isEmpty else {
                held.append(contentsOf: bytes)
                return takeHeld(transfer)
            }
            var input = bytes
            let progress = takeParts(of: &input, transfer)
            if case .over = progress { return .over }
            if !input.isEmpty { held = [UInt8](input) }
            return progress
        }

        private func takeHeld(_ transfer: WireTransfer) -> Progress {
            var bytes: [UInt8] = []
            swap(&bytes, &held)
            var progress = Progress.more
            let rest = bytes.withUnsafeBytes { bytes in
                var input = bytes
                progress = takeParts(of: &input, transfer)
                return input.count
            }
            if case .over = progress { return .over }
            // Not copied when nothing was taken: a head may come byte by byte.
            held = rest == bytes.count ? bytes : Array(bytes.suffix(rest))
            return progress
        }

        /// Takes as many parts of the response off the input as it has.
        private func takeParts(of input: inout UnsafeRawBufferPointer, _ transfer: WireTransfer) -> Progress {
            while true {
                switch reader.next(&input) {
                case .none: return .more
                case .head(let head, let status):
                    guard take(head: head, status: status, transfer) else { return stop(transfer) }
                case .body(let count):
                    let piece = UnsafeRawBufferPointer(rebasing: input[..<count])
                    switch transfer.take(piece) {
                    case .taken:
                        reader.take(count)
                        transfer.measured.bodyBytes += Int64(count)
                        input = UnsafeRawBufferPointer(rebasing: input[count...])
                    case .later: return .later
                    case .refused: return stop(transfer)
                    }
                case .trailer(let line):
                    if let fault = transfer.head.read(trailer: line) {
                        _ = transfer.violate(fault.message)
                        return stop(transfer)
                    }
                case .end:
                    end(transfer, hasLeftover: !input.isEmpty)
                    return .over
                case .violation(let text):
                    _ = transfer.violate(text)
                    return stop(transfer)
                }
            }
        }

        /// False stops the transfer.
        private func take(head: UnsafeRawBufferPointer, status: Int, _ transfer: WireTransfer) -> Bool {
            // The request's end comes before another protocol (RFC 9110 §7.8), and would be lost.
            if status == 101, !transfer.sent.isWhole {
                return transfer.violate("The server has switched protocols before the request's end.", phase: .maybeProcessed)
            }
            return transfer.take(head: head, status: status) { fields in
                if let pipe = transfer.pipe, transfer.isPiped {
                    switchProtocols(pipe)
                } else {
                    persistence = Persistence(
                        fields, transfer.headers,
                        request: transfer.framing.has(.connection) ? transfer.request.headers : nil,
                        status: status, version: transfer.version)
                    reader.begin(framing(fields, transfer))
                }
            }
        }

        private func framing(_ fields: ReceivedFields, _ transfer: WireTransfer) -> ResponseReader.Framing {
            if let length = transfer.expectedLength { return .length(length) }
            return transfer.isEndedByConnection(fields) ? .connection : .chunked
        }

        private func stop(_ transfer: WireTransfer) -> Progress {
            loop.stop(transfer)
            return .over
        }
    }
#endif
