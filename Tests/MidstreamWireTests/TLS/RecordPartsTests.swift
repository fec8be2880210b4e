#if os(Linux)
    import Glibc
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct RecordPartsTests {
        /// A channel with TLS over it, whose other side says nothing by itself.
        private func secured(_ kind: __socket_type) throws -> PairedChannel {
            let pair = try PairedChannel(kind)
            let context = try TLSContext(TLSConfiguration(trustsSystemAuthorities: false))
            pair.channel.beginTLS(try TLSSession(context, host: "127.0.0.1", peer: "127.0.0.1:443", protocols: []))
            return pair
        }

        /// Parts of a message that doesn't end stand for messages without an end: neither brings a byte. The socket gives one packet at a time.
        @Test(arguments: [(10, false), (100, true)])
        func `A server that sends nothing but TLS's own isn't listened to for ever`(_ count: Int, _ isGivenUp: Bool) throws {
            let pair = try secured(SOCK_SEQPACKET)
            defer { pair.close() }
            let (channel, other) = (pair.channel, pair.other)
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

        /// Those of a record come slowly where the network is slow, and are no silence.
        @Test func `A part of a record is movement, though its reader has nothing of it`() throws {
            let pair = try secured(SOCK_STREAM)
            defer { pair.close() }
            let (channel, other) = (pair.channel, pair.other)
            #expect(!channel.takeMovement())
            for part in [22, 3, 3] as [UInt8] {
                withUnsafeBytes(of: part) { _ = send(other, $0.baseAddress, 1, 0) }
                channel.becameReady(.reading)
                guard case .wait = channel.read() else { throw ChannelFailure.ended }
                #expect(channel.takeMovement() && !channel.takeMovement())
            }
        }

        /// Other bytes, of which a record takes each piece, stand for TLS's answers, as another limit forbids so many within 10 s.
        @Test(.enabled(if: Servers.areRunning, "run by Scripts/with-servers"))
        func `A server that reads nothing isn't answered for ever`() throws {
            let tls = try TLSServer(certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"], sendsTickets: false)
            let server = try RawServer(tls: tls) { $0.waitForHangUp() }
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            let address = try #require(HostAddress(literal: "127.0.0.1", port: UInt16(server.port)))
            try #require(address.withSocketAddress { connect(descriptor, $0, $1) } == 0)
            try #require(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
            let channel = try Channel(descriptor, Channels(Poller()), owner: DeafOwner())
            defer { channel.close() }
            let context = try TLSContext(TLSConfiguration(trustsSystemAuthorities: false, verifiesCertificates: false))
            let session = try TLSSession(context, host: "127.0.0.1", peer: "127.0.0.1:443", protocols: [])
            channel.beginTLS(session)
            channel.becameReady(.writing)
            while try !channel.handshake() {
                var arrival = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&arrival, 1, -1)
                channel.becameReady(.reading)
            }
            func failure() -> String? { if case .failed(let failure) = channel.read() { failure.message } else { nil } }
            let piece = UnsafeRawBufferPointer(UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 1))
            defer { piece.deallocate() }
            // Until the system takes no more; the channel keeps what is left of one piece, and another one.
            while let count = channel.write(piece), count > 0 {}
            _ = session.write(piece)
            #expect(failure() == nil)
            for _ in 0..<8 { _ = session.write(piece) }
            #expect(failure()?.contains("doesn't read what TLS answers") == true)
            #expect(server.accepted == 1)
        }
    }
#endif
