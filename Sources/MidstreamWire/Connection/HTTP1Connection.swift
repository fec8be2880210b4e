#if os(Linux)
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// A connection to a server that speaks HTTP/1.1 (RFC 9112), for one transfer after the other.
    ///
    /// Touched only on the loop's thread.
    final class HTTP1Connection: Connection, TransferConnection {
        @exclusivity(unchecked) private(set) var transfer: WireTransfer?
        @exclusivity(unchecked) var sending = SendingState()
        @exclusivity(unchecked) var reader = ResponseReader()
        /// What has been received and can't be dealt with yet.
        @exclusivity(unchecked) var held: [UInt8] = []
        /// Whether the next transfer may use it, as far as the last response says.
        @exclusivity(unchecked) var isReusable = false

        /// What the head of the response says of the next transfer.
        @exclusivity(unchecked) var persistence: Persistence?

        /// When the server may close it, as far as it says so.
        @exclusivity(unchecked) private var serverLimit: UInt64 = .max

        /// Sends a transfer's request, and receives its response. A connection that was made for it gives its times.
        func begin(_ transfer: WireTransfer, _ times: DialTimes? = nil) {
            assert(loop.isCurrent)
            self.transfer = transfer
            transfer.connection = self
            transfer.willSend(over: channel.endpoints, times)
            transfer.noteSending()
            isReusable = false
            persistence = nil
            reader.reset()
            if transfer.isPiped, let pipe = transfer.pipe { return openPipe(pipe, transfer) }
            sending = SendingState(head: transfer.requestHead.bytes())
            if transfer.isBodyHeld { loop.wake(transfer, at: loop.now + transfer.settings.patience) }
            send()
        }

        /// Whether it stands, and the server has sent nothing unasked. The system is asked only when the loop hasn't waited for sockets
        /// since the last response, or since a long job: what had come by the end of a wait has closed the connection.
        override var isUsable: Bool {
            !isTooOld && loop.now < serverLimit && (channel.isDrained && loop.lastWholeWait > idleSinceWait || channel.isQuiet)
        }

        override func channelIsReady() {
            assert(loop.isCurrent)
            guard let transfer else {
                // TLS may have news of its own.
                if !channel.isQuiet { loop.close(self) }
                return
            }
            send()
            receive()
            if channel.takeMovement() { transfer.noteActivity() }
        }

        func letGo(_ transfer: WireTransfer, isClean: Bool) {
            transfer.pipe?.end()
            self.transfer = nil
            loop.letSleep(transfer)
            sending = SendingState()
            held = []
            guard isClean, isReusable else { return loop.close(self) }
            loop.isFree(self)
        }

        // MARK: Ends

        /// The response is whole.
        func end(_ transfer: WireTransfer, hasLeftover: Bool) {
            if let decoder = transfer.decoder, !decoder.isComplete {
                return loop.fail(transfer, DecodingFault.truncated.error(transfer.request, ratio: nil))
            }
            isReusable = !hasLeftover && transfer.sent.isWhole && !mayBeUnread(transfer) && mayPersist(transfer)
            loop.finish(transfer, nil, isClean: true)
        }

        /// Whether a server may have answered an upload without reading it, which may still be on its way: then it closes the connection soon,
        /// whatever the head says, and what follows the answer would be lost.
        private func mayBeUnread(_ transfer: WireTransfer) -> Bool {
            guard transfer.sent.bodyBytes >= 64 << 10 else { return false }
            let status = HTTPStatus(transfer.head.status)
            return status.isRedirectToFollow || status.code >= 400
        }

        private func mayPersist(_ transfer: WireTransfer) -> Bool {
            guard transfer.settings.configuration.keepsConnections, !isTooOld, !reader.isEndedByConnection, let persistence
            else { return false }
            serverLimit = persistence.seconds.map { loop.now + $0 * 1_000_000_000 } ?? .max
            return persistence.isAllowed
        }

        /// The connection is gone before the response was whole; without a failure the server has closed it.
        func lose(_ transfer: WireTransfer, _ failure: ChannelFailure?) {
            if transfer.mayGoOutAgain {
                transfer.noteLoss()
                letGo(transfer, isClean: false)
                return loop.connectAnew(transfer)
            }
            let text: String
            if transfer.isPiped {
                text = failure?.message ?? "The connection was closed."
            } else if transfer.head.isComplete {
                text = failure?.message ?? "The connection was closed before the body's end."
            } else if !held.isEmpty {
                text = "The connection was closed within the head."
            } else if transfer.measured.isReused == true {
                text = "The kept connection was closed before an answer came."
            } else {
                text = failure?.message ?? "The connection was closed before an answer came."
            }
            loop.fail(
                transfer, HTTPError(transfer.code(of: failure), text, request: transfer.request, phase: transfer.phase))
        }
    }
#endif
