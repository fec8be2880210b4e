#if os(Linux)
    internal import MidstreamLoop

    /// A connection that serves one transfer after the other, or several at a time: a version of HTTP says how.
    ///
    /// Touched only on the loop's thread.
    class Connection: ChannelOwner {
        final let route: Route
        final let channel: Channel
        /// It keeps its connections until it ends, and nobody else touches them.
        final unowned(unsafe) let loop: any ConnectionLoop
        /// From when on no transfer begins on it, in nanoseconds of the monotonic clock.
        @exclusivity(unchecked) final var limitOfAge: UInt64 = .max

        // The pool's, while there is no transfer.
        /// In nanoseconds of the monotonic clock.
        @exclusivity(unchecked) final private(set) var idleSince: UInt64 = 0
        /// How often the loop had waited for sockets by then.
        @exclusivity(unchecked) final private(set) var idleSinceWait = 0
        @exclusivity(unchecked) final unowned var older: Connection?
        @exclusivity(unchecked) final unowned var newer: Connection?

        /// - Parameter channel: Connected, and secured where it is to be.
        init(_ channel: Channel, route: Route, loop: any ConnectionLoop) {
            self.route = route
            self.channel = channel
            self.loop = loop
            channel.owner = self
        }

        /// Notes that there is no transfer any more.
        final func becameIdle() {
            idleSince = loop.now
            idleSinceWait = loop.waits
        }

        /// Whether it is older than connections may get.
        final var isTooOld: Bool { loop.now >= limitOfAge }

        /// Whether a transfer may begin on it.
        var isUsable: Bool { false }

        func channelIsReady() {}
    }
#endif
