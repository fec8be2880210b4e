#if os(Linux)
    internal import MidstreamCore
    internal import MidstreamLoop

    /// One transfer on a connection of HTTP/2.
    final class HTTP2Stream: TransferConnection {
        /// How often a request that a server has refused unseen goes out again.
        private static let mostRefusals = 3
        /// Room for most heads.
        private static let usualHead = 512
        /// How much is handed over at a time of what had to wait: 64 KiB.
        private static let sliceSize = 64 << 10
        /// What comes before the fields; the status is kept apart.
        private static let statusLine = Array("HTTP/2 \n".utf8)

        /// Zero as long as it waits for the server to take further ones.
        @exclusivity(unchecked) var id: Int32 = 0
        /// It is among those that do.
        @exclusivity(unchecked) var isWaiting = false
        let transfer: WireTransfer
        /// Outlives its socket as long as a reader is behind.
        let connection: HTTP2Connection
        /// Fields in the form of a head, or of trailers, of HTTP/1.
        private var fields: [UInt8] = []
        @exclusivity(unchecked) private var status = 0
        /// What of the body can't be dealt with yet, in slices.
        private var held: [[UInt8]] = []
        /// The server has ended it.
        @exclusivity(unchecked) private var hasEnd = false
        /// Neither side sends any more.
        @exclusivity(unchecked) private var isClosed = false
        /// The server has broken a rule of the messages.
        @exclusivity(unchecked) var isViolated = false
        /// Whether the server has ended it before its time.
        @exclusivity(unchecked) var isReset = false
        /// The name of the field by which it has.
        var refusedField: String?
        /// The bytes of the body's frames that have begun to come, padding included, and whether the server's last frame has.
        @exclusivity(unchecked) private var announced: Int64 = 0
        @exclusivity(unchecked) private var hasAnnouncedEnd = false

        init(_ transfer: WireTransfer, on connection: HTTP2Connection) {
            self.transfer = transfer
            self.connection = connection
        }

        private var loop: any ConnectionLoop { connection.loop }

        func letGo(_: WireTransfer, isClean: Bool) {
            let isAnswered = hasEnd && isClean
            // The server may have answered without waiting for the whole request (RFC 9113 §8.1).
            let isOver = isClosed || isAnswered && transfer.sent.isWhole
            let code: HTTP2ErrorCode? = isOver ? nil : isAnswered ? .noError : .cancel
            isClosed = true
            loop.letSleep(transfer)
            connection.remove(self, code)
        }

        // MARK: Sending

        func send() {
            assert(connection.loop.isCurrent)
            connection.session?.resume(stream: id)
            connection.flushSoon()
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> HTTP2Session.Reading {
            if transfer.isBodyHeld { return .later }
            switch transfer.outgoing {
            // Files are left to the system over HTTP/1.1 alone.
            case .none, .file: return .end(0, trailers: nil)
            case .bytes(let bytes):
                let rest = bytes[Int(transfer.sent.bodyBytes)...]
                let count = min(rest.count, buffer.count)
                buffer.copyBytes(from: rest.prefix(count))
                return sent(count, isLast: count == rest.count)
            case .chunks(let feeder):
                guard let count = feeder.read(into: buffer, for: transfer) else {
                    transfer.isSendingPaused = true
                    return .later
                }
                return sent(count, isLast: count == 0 || feeder.isDrained)
            }
        }

        private func sent(_ count: Int, isLast: Bool) -> HTTP2Session.Reading {
            transfer.sent.bodyBytes += Int64(count)
            transfer.noteActivity()
            guard isLast else { return .bytes(count) }
            guard transfer.bodyFraming == .chunked, let trailers = transfer.request.trailers?(), !trailers.isEmpty else {
                return .end(count, trailers: nil)
            }
            let fields = HTTP2Fields(trailers: trailers)
            guard fields.largestSize <= HTTP2Session.largestRequestHead else {
                let text = "The trailers of the request are larger than 1 MiB."
                loop.post(
                    .fail(transfer, HTTPError(.invalidRequest, text, request: transfer.request, phase: transfer.phase)))
                return .later
            }
            return .end(count, trailers: fields)
        }

        /// Notes that a frame has left.
        func didSend(_ count: Int, isLast: Bool) {
            // Until then it may have waited for the server to take further streams.
            if transfer.sent.bytes == 0 { transfer.noteSending() }
            transfer.sent.bytes += Int64(count)
            if isLast { transfer.sent.isWhole = true }
            // The server has had no time for an answer before it has the head.
            if transfer.isBodyHeld { loop.wake(transfer, at: loop.now + transfer.settings.patience) }
        }

        // MARK: Receiving

        /// Notes that a frame comes, of so many bytes beside its head.
        func willReceive(frame length: Int, isOfBody: Bool, isLast: Bool) {
            transfer.measured.bytes += Int64(length) + 9
            if isOfBody { announced += Int64(length) }
            if isLast { hasAnnouncedEnd = true }
        }

        /// False stops the stream.
        func receive(field name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
            if transfer.measured.firstByte == 0 { transfer.measured.firstByte = loop.now }
            guard fields.count + name.count + value.count <= HeadReader.sizeLimit else {
                _ = transfer.violate(HeadReader.Fault.tooLarge.message)
                return false
            }
            if name.first == UInt8(ascii: ":") {
                status = value.reduce(0) { $0 * 10 + Int($1 &- 48) }
                fields.reserveCapacity(Self.usualHead)
                fields += Self.statusLine
                return true
            }
            fields += name
            fields.append(UInt8(ascii: ":"))
            fields += value
            fields.append(10)
            return true
        }

        func receiveEndOfFields(endsStream: Bool) {
            var head: [UInt8] = []
            swap(&head, &fields)
            let isTaken = head.withUnsafeBytes { transfer.head.isComplete ? take(trailers: $0) : take(head: $0) }
            guard isTaken else { return loop.stop(transfer) }
            if endsStream { receiveEnd() }
        }

        private func take(head: UnsafeRawBufferPointer) -> Bool {
            guard status >= 100 else { return transfer.violate("The status of the response is below 100.") }
            return transfer.take(head: head, status: status) { _ in
                // On one that takes no further streams nobody else's begins.
                if !connection.isRetired { loop.shareConnections(of: transfer) }
            }
        }

        private func take(trailers: UnsafeRawBufferPointer) -> Bool {
            var start = 0
            while let feed = trailers[start...].firstIndex(of: 10) {
                if let fault = transfer.head.read(trailer: UnsafeRawBufferPointer(rebasing: trailers[start...feed])) {
                    return transfer.violate(fault.message)
                }
                start = feed + 1
            }
            return true
        }

        func receive(_ data: UnsafeRawBufferPointer) {
            transfer.noteActivity()
            transfer.measured.bodyBytes += Int64(data.count)
            if !held.isEmpty || transfer.isReceivingPaused || !take(data) { hold(data) }
        }

        private func hold(_ data: UnsafeRawBufferPointer) {
            if let last = held.indices.last, held[last].count + data.count <= Self.sliceSize {
                held[last].append(contentsOf: data)
            } else {
                held.append([UInt8](data))
            }
        }

        /// False when it is to be taken later.
        private func take(_ data: UnsafeRawBufferPointer) -> Bool {
            switch transfer.take(data) {
            case .taken: connection.session?.consume(data.count, ofStream: id)
            case .later: return false
            case .refused: loop.stop(transfer)
            }
            return true
        }

        func receive() {
            assert(connection.loop.isCurrent)
            guard !transfer.isReceivingPaused, !held.isEmpty else { return }
            // No more than there is room for, since what is taken lets the server send as much again.
            while transfer.isUnderWay, let slice = held.first, slice.withUnsafeBytes({ take($0) }) { held.removeFirst() }
            connection.flushSoon()
            if hasEnd { receiveEnd() }
        }

        func receiveEnd() {
            hasEnd = true
            guard held.isEmpty, transfer.isUnderWay else { return }
            guard transfer.head.isComplete else {
                return fail(.protocolViolation, "The stream ended before the head of the response.")
            }
            if let decoder = transfer.decoder, !decoder.isComplete {
                return fail(DecodingFault.truncated.error(transfer.request, ratio: nil))
            }
            loop.finish(transfer, nil, isClean: true)
        }

        // MARK: Ends

        private func fail(_ code: HTTPError.Code, _ text: String) {
            fail(HTTPError(code, text, request: transfer.request, phase: transfer.phase))
        }

        private func fail(_ error: any Error) { loop.fail(transfer, error) }

        /// The stream has ended for both sides.
        func didClose(_ code: HTTP2ErrorCode) {
            isClosed = true
            guard transfer.isUnderWay else { return connection.remove(self, nil) }
            if let failure = transfer.failure { return fail(failure) }
            // nghttp2 takes it for a violation, and tells no more of it.
            if isViolated, hasAnnouncedEnd, let length = transfer.expectedLength, announced < length {
                return fail(.connectionLost, "The body ended after \(announced) of \(length) bytes.")
            }
            if isViolated {
                let field = refusedField.map { " (the field \($0))" } ?? ""
                return fail(.protocolViolation, "The response broke a rule of HTTP/2: \(code.name)\(field).")
            }
            // What came before it waits for its reader.
            if hasEnd { return }
            // Whatever a server says, it has seen what it has begun to answer.
            let isUnseen = (code == .refusedStream || code == .http11Required) && transfer.measured.firstByte == 0
            if isUnseen, code == .http11Required { loop.leaveHTTP2(transfer.route) }
            if isUnseen, transfer.canBeSentAgain, transfer.refusals < Self.mostRefusals {
                transfer.noteRefusal()
                return code == .http11Required ? goElsewhere { $0.connectByHTTP1($1) } : goElsewhere()
            }
            // What a server gives as its reason it holds against this side, or has for any other: nothing is wrong with what it has sent.
            let kind: HTTPError.Code = code.isViolation && !isReset ? .protocolViolation : .connectionLost
            // What a server refuses it hasn't processed (RFC 9113 §8.7).
            fail(
                HTTPError(
                    kind, "\(isReset ? "The server ended the stream" : "The stream was ended"): \(code.name).",
                    request: transfer.request,
                    phase: isUnseen && !transfer.isInDoubt ? .notSent : transfer.phase))
        }

        /// Its transfer, of which nothing has been sent, doesn't wait any more for the connection to take further streams.
        ///
        /// - Parameter code: Nil: the session opens no streams any more.
        func leave(resetting code: HTTP2ErrorCode? = .cancel) {
            // One that waits for its reader may be closed.
            if !isClosed { goElsewhere(resetting: code) }
        }

        /// Its transfer, of which nothing has been sent, has too many before it here.
        func makeRoom() { goElsewhere { $0.connect($1) } }

        private func goElsewhere(
            resetting code: HTTP2ErrorCode? = nil,
            by way: @escaping @Sendable (any ConnectionLoop, WireTransfer) -> Void = { $0.connectAnew($1) }
        ) {
            loop.letSleep(transfer)
            transfer.connection = nil
            connection.remove(self, code)
            // Not within the session's callbacks: what makes room for a connection may close this one, with the session.
            loop.post(
                .run { [loop, transfer] in
                    if transfer.isUnderWay { way(loop, transfer) }
                })
        }

        /// The connection is gone.
        func lose(_ failure: ChannelFailure?, violation: String?, ending: String?) {
            isClosed = true
            loop.letSleep(transfer)
            guard transfer.isUnderWay else { return }
            if let failure = transfer.failure { return fail(failure) }
            if hasEnd { return }
            if let violation { return fail(.protocolViolation, violation) }
            if transfer.mayGoOutAgain {
                transfer.noteLoss()
                transfer.connection = nil
                return loop.connectAnew(transfer)
            }
            let text = ending ?? failure?.message ?? "The connection was closed before the response's end."
            fail(transfer.code(of: failure), text)
        }
    }
#endif
