#if os(Linux)
    import Glibc
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// RFC 8305 §5.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) final class SocketRaceTests {
        private let poller = Poller()
        private let channels: Channels
        private let owner = DeafOwner()
        private var sockets: [Int32] = []

        init() { channels = Channels(poller) }

        deinit {
            channels.closeAll()
            for socket in sockets { close(socket) }
        }

        private func open() -> Int32 {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            sockets.append(socket(AF_INET, kind, 0))
            return sockets[sockets.count - 1]
        }

        /// An address of this machine that refuses connections.
        private func refusing() throws -> (HostAddress, Int32) {
            let free = try #require(HostAddress(literal: "127.0.0.1", port: 0))
            let socket = open()
            try #require(free.withSocketAddress { bind(socket, $0, $1) } == 0)
            return (try #require(HostAddress.local(of: socket)), socket)
        }

        private func listening(_ backlog: Int32 = 16) throws -> HostAddress {
            let (address, socket) = try refusing()
            try #require(listen(socket, backlog) == 0)
            return address
        }

        /// One whose queue is full, so that connecting to it neither succeeds nor fails.
        private func silent() throws -> HostAddress {
            let address = try listening(0)
            // More than the system adds to a backlog of zero.
            for _ in 0..<8 {
                let socket = open()
                _ = address.withSocketAddress { connect(socket, $0, $1) }
            }
            return address
        }

        /// What comes of a race without a further address being due. A net is all that ends a race that isn't decided.
        private func end(of race: inout SocketRace, at time: UInt64) -> SocketRace.Progress {
            var progress = race.goOn(at: time, channels, owner: owner)
            for _ in 0..<60 {
                guard case .wait = progress else { break }
                poller.wait(until: MonotonicTime.now() + 1_000_000_000)
                progress = race.goOn(at: time, channels, owner: owner)
            }
            return progress
        }

        private func winner(_ progress: SocketRace.Progress) -> HostAddress? {
            if case .connected(_, let address) = progress { address } else { nil }
        }

        @Test func `An address that is silent is tried alone for 250 ms`() throws {
            let (first, second) = (try silent(), try listening())
            var race = SocketRace([first, second], from: nil)
            for time: UInt64 in [1_000, 250_000_999] {
                guard case .wait(until: 250_001_000) = race.goOn(at: time, channels, owner: owner) else {
                    return #expect(Bool(false), "It has gone on too early.")
                }
                #expect(channels.count == 1)
            }
            let winner = winner(end(of: &race, at: 250_001_000))
            #expect(winner == second)
            // The other one is given up.
            #expect(channels.count == 1)
        }

        @Test func `An address that refuses makes way at once`() throws {
            let (first, second) = (try refusing().0, try listening())
            var race = SocketRace([first, second], from: nil)
            let winner = winner(end(of: &race, at: 1_000))
            #expect(winner == second)
            #expect(channels.count == 1)
        }

        @Test func `The first of those that answer wins`() throws {
            let (first, second) = (try listening(), try listening())
            var race = SocketRace([first, second], from: nil)
            let winner = winner(end(of: &race, at: 1_000))
            #expect(winner == first)
        }

        /// One of IPv6, as a rule, in a container that has none.
        @Test(arguments: [false, true]) func `An address that there is no way to hides no refusal`(_ comesFirst: Bool) throws {
            let addresses = [try refusing().0, try #require(HostAddress(literal: "224.0.0.1", port: 80))]
            var race = SocketRace(comesFirst ? addresses.reversed() : addresses, from: nil)
            guard case .failed(ECONNREFUSED) = end(of: &race, at: 1_000) else {
                return #expect(Bool(false), "The refusal isn't told.")
            }
        }

        @Test func `A socket that is connected to itself has been refused`() throws {
            for _ in 0..<10 {
                let (address, socket) = try refusing()
                sockets.removeLast()
                close(socket)
                var race = SocketRace([address], from: address)
                switch end(of: &race, at: 1_000) {
                // Somebody else has got the port.
                case .failed(EADDRINUSE): continue
                case .failed(ECONNREFUSED): return #expect(channels.count == 0)
                default: return #expect(Bool(false), "It is taken for the server.")
                }
            }
            #expect(Bool(false), "No port is free.")
        }

        @Test func `The system looks whether the other end is still there`() throws {
            var race = SocketRace([try listening()], from: nil)
            guard case .connected(let channel, _) = end(of: &race, at: 1_000) else {
                return #expect(Bool(false), "It isn't connected.")
            }
            for (level, option, expected) in [(SOL_SOCKET, SO_KEEPALIVE, 1), (Int32(IPPROTO_TCP), TCP_KEEPIDLE, 60)] {
                var (value, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
                getsockopt(channel.descriptor, level, option, &value, &length)
                #expect(value == expected)
            }
        }

        @Test func `When all refuse, the system's word is told`() throws {
            var race = SocketRace([try refusing().0, try refusing().0], from: nil)
            guard case .failed(ECONNREFUSED) = end(of: &race, at: 1_000) else {
                return #expect(Bool(false), "Nobody has refused.")
            }
            #expect(channels.count == 0)
        }

        @Test(arguments: [false, true])
        func `A race that is given up says nothing of the host`(_ isOfPipe: Bool) async throws {
            let port = try #require(try silent().text?.port)
            let origin = try #require(HTTPOrigin("http://localhost:\(port)"))
            let time = Locked<UInt64>(7)
            let lookup = HostLookup(now: { time.withLock { $0 } })
            // One that goes on without a request has to make room.
            let configuration = TransportConfiguration(connectTimeout: nil, maximumConnections: 1)
            let transport = wireTransport(WireSettings(configuration, lookup: lookup))
            let loop = try #require(transport.executor as? WireLoop)
            let call = Task {
                if isOfPipe { return _ = try await transport.connect(to: origin, tls: nil, timeout: .seconds(600)) }
                _ = try await transport.deliver(request("http://localhost:\(port)/", .buffered(upTo: 10)))
            }
            await eventually { await onLoop(loop) { loop.channels.count == 1 } }
            time.withLock { $0 += 2_000_000_000 }
            call.cancel()
            _ = await call.result
            let server = try RawServer.ok()
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            let isKnown = lookup.known("localhost", port: UInt16(port)) != nil
            #expect(isKnown)
        }
    }
#endif
