#if os(Linux)
    package import MidstreamCore

    /// What a transfer makes of the response that comes in.
    extension Transfer {
        /// What has become of a piece of a body.
        package enum Taking {
            case taken
            /// Nothing, or only a part, is taken; the whole piece is to be handed over again once receiving is resumed.
            case later
            /// The transfer is to end, for ``failure``.
            case refused
        }

        /// The version of the response's head.
        package final var version: HTTPVersion { head.version }

        /// Reads a head; see ``HeadReader/read(_:status:)``.
        package final func read(head bytes: UnsafeRawBufferPointer, status: Int) -> HeadReader.Progress {
            head.read(bytes, status: status)
        }

        package final func completeInterim(_ fields: HTTPHeaders) {
            // It answers an `Expect` of the transport's.
            guard head.status != 100 else { return }
            let response = InterimResponse(status: HTTPStatus(head.status), headers: fields)
            if interim.count < HeadReader.interimLimit { interim.append(response) }
            request.onInterim?(response)
        }

        /// Notes that the transfer ends because of what the server has sent; returns false.
        package final func violate(_ message: String, phase: HTTPError.Phase? = nil) -> Bool {
            let phase = phase ?? (head.isComplete ? .answered : .maybeProcessed)
            failure = HTTPError(.protocolViolation, message, request: request, phase: phase)
            return false
        }

        /// Takes the fields of the final head, and prepares for the body; false stops the transfer.
        package final func takeHead(_ fields: ReceivedFields) -> Bool {
            noteActivity()
            headers = HTTPHeaders(lines: fields.bytes)
            let isBodiless = request.method == .head || head.status == 204 || head.status == 304
            guard head.status != 101 else {
                openStream(isPiped: true)
                return true
            }
            guard readLength(fields, isBodiless: isBodiless) else { return false }
            decodedLength = expectedLength
            // A part of an encoded body can't be decoded.
            if decodes, !isBodiless, head.status != 206 { willDecode(fields) }
            switch options.delivery {
            case .streamed:
                openStream(isPiped: false)
                loop.expectDeadline(of: self)
            case .buffered(let limit):
                if let decodedLength, decodedLength > Int64(limit) { return refuse(limit) }
                if loop.limits.idle != nil { loop.expectDeadline(of: self) }
            }
            return true
        }

        /// Gives the caller a stream of what comes from now on: of a body, or of another protocol that the connection carries.
        package final func openStream(isPiped: Bool) {
            self.isPiped = isPiped
            timeLimit = .max
            stream = BodyStream(
                of: self, resends: resends, interim: interim, limit: isPiped ? BodyStream.pipeLimit : BodyStream.limit)
            markUnsettled()
        }

        /// Whether what comes next can be kept as it comes; otherwise the stream's reader resumes receiving when it has caught up.
        package final var hasRoom: Bool {
            assert(loop.isCurrent)
            guard codings.isEmpty, stream?.hasRoom() == false else { return true }
            isReceivingPaused = true
            return false
        }

        /// Takes a piece of the body as it came over the wire.
        package final func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
            assert(loop.isCurrent)
            guard codings.isEmpty else { return decode(bytes) }
            guard loop.decoding.takesPiece() else {
                isReceivingPaused = true
                loop.post(.resumeReceiving(self))
                return .later
            }
            return keep(bytes)
        }

        /// Keeps a decoded piece of the body.
        final func keep(_ bytes: UnsafeRawBufferPointer) -> Taking {
            if let stream {
                guard stream.append(bytes) else {
                    isReceivingPaused = true
                    return .later
                }
                markUnsettled()
                return .taken
            }
            guard case .buffered(let limit) = options.delivery, received.count + bytes.count <= limit || refuse(limit)
            else { return .refused }
            received.append(bytes)
            if case .none = outgoing {} else { markUnsettled() }
            return .taken
        }

        private func refuse(_ limit: Int) -> Bool {
            failure = HTTPError.tooLarge(limit: limit)
            return false
        }

        /// How long the body is (RFC 9112 §6.3). False when the fields contradict themselves: nobody knows then where it ends, and the head
        /// is worth nothing.
        private func readLength(_ fields: ReceivedFields, isBodiless: Bool) -> Bool {
            expectedLength = isBodiless ? 0 : nil
            if isBodiless { return true }
            var length: Int64?
            if fields.contentLength != .absent {
                if case .once(let place) = fields.contentLength { length = fields.number(at: place) }
                length = length ?? headers[.contentLength].flatMap(HTTPHeaders.contentLength)
                guard length != nil else {
                    return violate("The response's Content-Length isn't a number.", phase: .maybeProcessed)
                }
            }
            switch transferCoding(fields) {
            case .none: expectedLength = length
            case .chunked, .identity: break
            case .other: return violate("The response's Transfer-Encoding isn't chunked.", phase: .maybeProcessed)
            }
            return true
        }

        /// The head of a response whose body needn't be missed, such as a redirect's; nil for others, and for what isn't the body's fault.
        /// Reading the body throws why it isn't whole.
        final func head(endingWith error: any Error) -> HTTPResponse? {
            guard let failure = error as? HTTPError, failure.leavesEnough(of: HTTPStatus(head.status), headers) else {
                return nil
            }
            return response(.broken(by: failure))
        }

        /// The error of a body that is taken into memory, with the response if that is a refusal.
        final func ofRefusal(_ error: any Error) -> any Error {
            guard let failure = error as? HTTPError else { return error }
            return failure.ofRefusal(response(.empty), HTTPStatus(head.status))
        }

        private func response(_ body: HTTPBody) -> HTTPResponse {
            HTTPResponse(
                status: HTTPStatus(head.status), headers: headers, body: body, request: request, version: head.version,
                metrics: metrics)
        }

        /// What a `Transfer-Encoding` says (RFC 9112 §6.1).
        private enum TransferCoding {
            case none, chunked
            /// What some old servers say for none; the body is read to the connection's end then.
            case identity
            /// None has been asked for by `TE`.
            case other
        }

        private func transferCoding(_ fields: ReceivedFields) -> TransferCoding {
            if fields.transferEncoding == .absent { return .none }
            return fields.has(fields.transferEncoding, "chunked") ? .chunked : unusualTransferCoding
        }

        /// Two programs of a server may say `chunked` one after the other, of a body that is in chunks once.
        @inline(never)
        private var unusualTransferCoding: TransferCoding {
            let codings = headers.members(of: .transferEncoding)
            guard let first = codings.first else { return .none }
            if codings.allSatisfy({ $0.equalsIgnoringASCIICase("chunked") }) { return .chunked }
            return codings.count == 1 && first.equalsIgnoringASCIICase("identity") ? .identity : .other
        }

        /// Whether a body without a length ends with its connection (RFC 9112 §6.3).
        package final func isEndedByConnection(_ fields: ReceivedFields) -> Bool {
            guard head.version == .http1_1 || head.version == .http1_0 else { return false }
            return transferCoding(fields) != .chunked
        }
    }
#endif
