#if os(Linux)
    internal import MidstreamLoop

    /// What connections need of the loop that drives them; all on its thread.
    protocol ConnectionLoop: TransferLoop {
        /// How often it has waited for sockets.
        var waits: Int { get }
        /// The last of these that has told of all sockets that were ready, and on all of which was acted; none before the driver's
        /// first, nor before the first after a long job.
        var lastWholeWait: Int { get }
        /// Ends a transfer of which nothing more will come; without a failure its response is whole.
        func finish(_ transfer: Transfer, _ failure: (any Error)?, isClean: Bool)
        /// Sends a transfer over any connection that has room for it, or a further one.
        func connect(_ transfer: WireTransfer)
        /// Sends a transfer over a connection that hasn't served, as far as the limits allow; those that come together share one.
        func connectAnew(_ transfer: WireTransfer)
        /// The connection has no transfer any more, and may have another.
        func isFree(_ connection: HTTP1Connection)
        /// The connection has one stream less, and others.
        func hasRoom(_ connection: HTTP2Connection)
        /// The connection has no stream any more, and may have others.
        func isIdle(_ connection: HTTP2Connection)
        /// No further stream begins on the connection.
        func retire(_ connection: HTTP2Connection)
        /// Has ``HTTP2Connection/flush()`` called before the loop waits for sockets.
        func flushLater(_ connection: HTTP2Connection)
        /// Has no further streams begin on connections of a route, since its server wants HTTP/1.1.
        func leaveHTTP2(_ route: Route)
        /// Sends a transfer over a connection that isn't shared, since its server wants that.
        func connectByHTTP1(_ transfer: WireTransfer)
        /// Closes a connection that has no transfer any more, and may have no other.
        func close(_ connection: Connection)
        /// Wakes the sleeper when its time has come, unless it is told not to before.
        func wake(_ sleeper: any Sleeper, at time: UInt64)
        func letSleep(_ sleeper: any Sleeper)
    }

    extension ConnectionLoop {
        /// Ends a transfer with what went wrong.
        func fail(_ transfer: WireTransfer, _ error: any Error) { finish(transfer, error, isClean: false) }

        /// Ends a transfer that has refused a part of its response.
        func stop(_ transfer: WireTransfer) {
            if transfer.failure == nil { _ = transfer.violate("The response can't be read.") }
            if let failure = transfer.failure { fail(transfer, failure) }
        }
    }

    /// What waits for a time.
    protocol Sleeper: AnyObject {
        func isWoken()
    }

    extension WireTransfer: Sleeper {
        /// The server has had time to ask for the body. One that it has refused isn't wanted.
        func isWoken() { if !head.isComplete || head.status < 400 { releaseBody() } }
    }
#endif
