#if os(Linux)
    internal import MidstreamCore

    /// How a transfer undoes the encodings of its body.
    extension Transfer {
        /// Whether encodings may be asked for. A part of an encoded body can't be decoded, so none is asked for (RFC 9110 §14.2).
        package final func mayDecode(_ framing: RequestFraming) -> Bool {
            !framing.has(.range) && (!framing.has(.acceptEncoding) || request.encodedBodyCheck != nil)
        }

        /// Notes what a `Content-Encoding` names, and takes the fields from the head that are true of the bytes on the wire only.
        final func willDecode(_ fields: ReceivedFields) {
            guard fields.contentEncoding != .absent, let field = headers[.contentEncoding] else { return }
            codings = ContentCoding.undoable(in: field)
            guard !codings.isEmpty else { return }
            encodedCheck = request.encodedBodyCheck?.begin(headers)
            headers.remove(.contentEncoding)
            headers.remove(.contentLength)
            decodedLength = nil
        }

        /// Decodes a piece of the body, or as much of it as its reader has room for and as the loop has time for. What is left then waits, and
        /// the whole piece is handed over again.
        final func decode(_ bytes: UnsafeRawBufferPointer) -> Taking {
            do throws(DecodingFault) {
                let decoder = try existingDecoder()
                let room = loop.decoding
                let taken = min(decodedOfPiece, bytes.count)
                var input = UnsafeRawBufferPointer(rebasing: bytes[taken...])
                let isAdmitted = room.admits(self)
                while !input.isEmpty || !decoder.isHungry {
                    let hasTime = isAdmitted && !room.isUsedUp
                    guard hasTime, stream?.hasRoom() ?? true else {
                        guard check(bytes[taken..<(bytes.count - input.count)]) else { return .refused }
                        decodedOfPiece = max(decodedOfPiece, bytes.count - input.count)
                        isReceivingPaused = true
                        // A full stream is resumed by its reader.
                        if !hasTime { loop.post(.resumeReceiving(self)) }
                        return .later
                    }
                    let step = try decoder.decode(&input, into: room.space)
                    room.work += step.work
                    if step.count > 0 {
                        // There is room: only this thread fills the stream.
                        let kept = keep(UnsafeRawBufferPointer(rebasing: room.space[..<step.count]))
                        guard case .taken = kept else { return .refused }
                    }
                }
                decodedOfPiece -= taken
                return check(bytes[taken...]) ? .taken : .refused
            } catch {
                failure = error.error(request, ratio: loop.limits.decodedRatio)
                return .refused
            }
        }

        /// Shows bytes that have been decoded to what checks them; false stops the transfer.
        private func check(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
            guard let encodedCheck else { return true }
            do {
                try encodedCheck.onChunk([UInt8](bytes))
                return true
            } catch {
                failure = error
                return false
            }
        }

        private func existingDecoder() throws(DecodingFault) -> BodyDecoding {
            if let decoder { return decoder }
            // A stream holds no more than its reader takes, which is all of it where that is the client.
            let ratio = stream == nil || options.isCollected ? loop.limits.decodedRatio : nil
            let made = try BodyDecoding(codings, ratio: ratio, length: expectedLength)
            decoder = made
            return made
        }
    }
#endif
