#if os(Linux)
    import Glibc
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct RecordPartsTests {
        private final class Owner: ChannelOwner {
            func channelIsReady() {}
        }

        /// Parts of a message that doesn't end stand for messages without an end: neither brings a byte. The socket gives one packet at a time.
        @Test(arguments: [(10, false), (100, true)])
        func `A server that sends nothing but TLS's own isn't listened to for ever`(_ count: Int, _ isGivenUp: Bool) throws {
            var ends: [Int32] = [0, 0]
            let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let isMade = socketpair(AF_UNIX, kind, 0, &ends) == 0
            try #require(isMade)
            let other = ends[1]
            defer { close(other) }
            let channel = try Channel(ends[0], Channels(Poller()), owner: Owner())
            defer { channel.close() }
            let context = try TLSContext(TLSConfiguration(trustsSystemAuthorities: false))
            channel.beginTLS(try TLSSession(context, host: "127.0.0.1", peer: "127.0.0.1:443", protocols: []))
            // The head of a record of 16 KiB, the largest that there may be (RFC 8446 §5.1).
            let message: [UInt8] = [22, 3, 3, 64, 0] + [UInt8](repeating: 2, count: count)
            for part in message.prefix(count) { withUnsafeBytes(of: part) { _ = send(other, $0.baseAddress, 1, 0) } }
            shutdown(other, Int32(SHUT_WR))
            channel.becameReady([.reading, .writing, .ended])
            switch channel.read() {
            case .failed(.tls(let text)): #expect(isGivenUp && text.contains("nothing but messages of TLS's own"), "\(text)")
            case .ended(let isClean): #expect(!isGivenUp && !isClean)
            case let reading: #expect(Bool(false), "\(reading)")
            }
        }
    }
#endif
