#if os(Linux)
    import Glibc

    /// Connects a socket to one of several addresses: each is tried a moment after the one before, or at once when that has failed
    /// (RFC 8305), and the first that is connected wins.
    struct SocketRace {
        enum Progress {
            /// When the next address is due, in nanoseconds of the monotonic clock; `.max`: nothing but an event helps.
            case wait(until: UInt64)
            case connected(Channel, HostAddress)
            /// None can be connected to; with what the system said last, of an address that there is a way to if there is one.
            case failed(Int32)
        }

        /// How long an address is tried alone, in nanoseconds: 250 ms (RFC 8305 §8).
        private static let headStart: UInt64 = 250_000_000
        /// How long a unix domain socket whose queue is full is left alone, in nanoseconds: 10 ms.
        private static let pause: UInt64 = 10_000_000

        private var waiting: ArraySlice<HostAddress>
        private var tries: [(channel: Channel, address: HostAddress)] = []
        private var nextTry: UInt64 = 0
        private var lastError: Int32 = 0
        private let local: HostAddress?

        /// - Parameter local: What the sockets are bound to, of the addresses' kind; nil: the system chooses.
        init(_ addresses: [HostAddress], from local: HostAddress?) {
            waiting = addresses[...]
            self.local = local
        }

        /// Looks at what is under way, and begins what is due.
        mutating func goOn(at now: UInt64, _ channels: Channels, owner: any ChannelOwner) -> Progress {
            for attempt in tries {
                switch Self.state(of: attempt.channel.descriptor, attempt.address) {
                case 0:
                    tries.removeAll { $0.channel === attempt.channel }
                    close()
                    return .connected(attempt.channel, attempt.address)
                case EALREADY: break
                case let number:
                    note(number)
                    attempt.channel.close()
                    tries.removeAll { $0.channel === attempt.channel }
                    nextTry = 0
                }
            }
            while let address = waiting.first, tries.isEmpty || nextTry <= now {
                waiting.removeFirst()
                nextTry = now + Self.headStart
                guard let channel = begin(address, channels, owner) else {
                    nextTry = 0
                    continue
                }
                if Self.state(of: channel.descriptor, address) == 0 {
                    close()
                    return .connected(channel, address)
                }
                tries.append((channel, address))
            }
            guard !tries.isEmpty else { return .failed(lastError) }
            // Nothing tells when there is room again.
            if tries.contains(where: { $0.address.family == AF_UNIX }) { return .wait(until: now + Self.pause) }
            return .wait(until: waiting.isEmpty ? .max : nextTry)
        }

        /// Gives up what is under way.
        mutating func close() {
            for attempt in tries { attempt.channel.close() }
            tries = []
            waiting = []
        }

        /// Nil when it fails at once, for ``lastError``.
        private mutating func begin(_ address: HostAddress, _ channels: Channels, _ owner: any ChannelOwner) -> Channel? {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            var descriptor = socket(address.family, kind, 0)
            while descriptor < 0, errno == EMFILE || errno == ENFILE, channels.makeRoom(owner) {
                descriptor = socket(address.family, kind, 0)
            }
            guard descriptor >= 0 else {
                note(errno)
                return nil
            }
            if address.family != AF_UNIX {
                Self.set(Int32(IPPROTO_TCP), TCP_NODELAY, to: 1, of: descriptor)
                // What lies between forgets connections that stand still, such as that of a request whose answer takes minutes.
                Self.set(SOL_SOCKET, SO_KEEPALIVE, to: 1, of: descriptor)
                Self.set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, to: 60, of: descriptor)
                if let local {
                    // The port is chosen when the other end is known: there are as many as that for each of them.
                    Self.set(Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, to: 1, of: descriptor)
                    guard local.withSocketAddress({ bind(descriptor, $0, $1) }) == 0 else {
                        note(errno)
                        Glibc.close(descriptor)
                        return nil
                    }
                }
            }
            let status = address.withSocketAddress { connect(descriptor, $0, $1) }
            guard status == 0 || Self.isUnderWay(errno, address) else {
                note(errno)
                Glibc.close(descriptor)
                return nil
            }
            do throws(ChannelFailure) {
                return try Channel(descriptor, channels, owner: owner)
            } catch {
                if case .system(let number) = error { note(number) }
                return nil
            }
        }

        /// Keeps why an address failed. That this machine has no way to one says less than what another has answered.
        private mutating func note(_ number: Int32) {
            let noWay: Set<Int32> = [0, ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT]
            if noWay.contains(lastError) || !noWay.contains(number) { lastError = number }
        }

        private static func set(_ level: Int32, _ option: Int32, to value: Int32, of descriptor: Int32) {
            var value = value
            setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }

        /// Zero when the socket is connected, `EALREADY` as long as it may be; otherwise why it isn't. Asked of the system, since a socket that
        /// is reported ready may be another one that had the same number before.
        private static func state(of descriptor: Int32, _ address: HostAddress) -> Int32 {
            if address.withSocketAddress({ connect(descriptor, $0, $1) }) == 0 || errno == EISCONN {
                return isConnectedToItself(descriptor) ? ECONNREFUSED : 0
            }
            return isUnderWay(errno, address) ? EALREADY : errno
        }

        /// Where nobody listens at one of the ports that the system chooses from, it may choose that one for this end, and TCP connects the
        /// socket to itself (RFC 9293 §3.5).
        private static func isConnectedToItself(_ descriptor: Int32) -> Bool {
            guard let own = HostAddress.local(of: descriptor) else { return false }
            return own == HostAddress.remote(of: descriptor)
        }

        /// Whether a socket may yet be connected after an error. Where TCP sends again what a server has no room for, a unix domain socket is
        /// refused.
        private static func isUnderWay(_ number: Int32, _ address: HostAddress) -> Bool {
            number == EINTR || number == EINPROGRESS || number == EAGAIN && address.family == AF_UNIX
        }
    }
#endif
