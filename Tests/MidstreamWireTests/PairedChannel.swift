#if os(Linux)
    import Glibc
    import MidstreamLoop

    @testable import MidstreamWire

    /// A channel over one end of a pair of sockets; the other end is the test's.
    struct PairedChannel {
        struct NoPair: Error {}

        let channel: Channel
        let other: Int32

        /// - Parameter kind: `SOCK_SEQPACKET` gives one packet at a time.
        init(_ kind: __socket_type = SOCK_STREAM, in channels: Channels = Channels(Poller())) throws {
            var ends: [Int32] = [0, 0]
            let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            guard socketpair(AF_UNIX, Int32(kind.rawValue) | flags, 0, &ends) == 0 else { throw NoPair() }
            other = ends[1]
            channel = try Channel(ends[0], channels, owner: DeafOwner())
        }

        func close() {
            channel.close()
            Glibc.close(other)
        }
    }

    /// Does nothing about what it is told.
    final class DeafOwner: ChannelOwner {
        func channelIsReady() {}
    }
#endif
