#if os(Linux)
    import Glibc
    internal import MidstreamLoop

    /// What is told that a channel may have something to be received, or room for something to be sent.
    protocol ChannelOwner: AnyObject {
        func channelIsReady()
    }

    /// A connected socket, with TLS over it or without.
    ///
    /// Its readiness is reported once for each change, so that it reads and writes until the system has nothing more.
    final class Channel {
        enum Reading {
            /// Valid until the next call.
            case bytes(UnsafeRawBufferPointer)
            case wait
            /// - Parameter isClean: Whether TLS, if there is any, was ended as well.
            case ended(isClean: Bool)
            case failed(ChannelFailure)
        }

        let descriptor: Int32
        @exclusivity(unchecked) private(set) var endpoints = Endpoints()
        /// Told of what the socket is ready for; the channel's until it is closed.
        @exclusivity(unchecked) var owner: (any ChannelOwner)?
        private let channels: Channels
        @exclusivity(unchecked) private var tls: TLSSession?
        @exclusivity(unchecked) private var canRead = false
        /// Whether the system may take something.
        @exclusivity(unchecked) var canWrite = false
        /// The system has told of the other side's end, so that reading goes on to it.
        @exclusivity(unchecked) private var seesEnd = false
        @exclusivity(unchecked) private var hasEnded = false
        /// Why sending has failed: what the system has told there it doesn't tell again, and a reset connection reads like one that has ended.
        @exclusivity(unchecked) private var sendingFailure: ChannelFailure?
        /// Whether the last bytes of a file were fewer than were to be sent, for a reason that the system doesn't tell again.
        @exclusivity(unchecked) var mayHideReset = false
        @exclusivity(unchecked) private(set) var isClosed = false
        /// What TLS has made and the system hasn't taken.
        @exclusivity(unchecked) private var pending: [UInt8] = []
        @exclusivity(unchecked) private var pendingSent = 0
        /// How many bytes the system has taken, but for those of files.
        @exclusivity(unchecked) private(set) var transmitted = 0
        /// How many of these have arrived, as far as the other side's system has told; asks the system here.
        var acknowledged: Int {
            var underWay: Int32 = 0
            return ioctl(descriptor, UInt(TIOCOUTQ), &underWay) == 0 ? transmitted - Int(underWay) : transmitted
        }
        /// How much the system hasn't taken of what TLS has made, which is no less than what that was made of.
        var unsent: Int { pending.count - pendingSent + (tls?.unwrapped.count ?? 0) }
        /// TLS takes nothing before it has received something, as when a server of TLS 1.2 negotiates anew.
        @exclusivity(unchecked) private(set) var sendsAfterReceiving = false
        /// Whether bytes of TLS have moved since it was last asked. Those of a record may take long, and are its reader's only at its end.
        @exclusivity(unchecked) private var hasMoved = false

        /// - Parameter descriptor: A socket that is connected, or about to be; the channel's from now on.
        /// - Throws: When the system can't watch it.
        init(_ descriptor: Int32, _ channels: Channels, owner: any ChannelOwner) throws(ChannelFailure) {
            self.descriptor = descriptor
            self.channels = channels
            self.owner = owner
            guard channels.add(self) else {
                isClosed = true
                let number = errno
                Glibc.close(descriptor)
                throw .system(number)
            }
        }

        /// Nothing is sent or received any more; harmless when repeated.
        func close() {
            guard !isClosed else { return }
            isClosed = true
            if let tls, !hasEnded {
                tls.shutdown()
                // There may be room of which the loop hasn't heard yet.
                canWrite = true
                flush()
            }
            owner = nil
            channels.remove(self)
            Glibc.close(descriptor)
        }

        /// Its socket, where no TLS is over it.
        var plainSocket: Int32? { tls == nil ? descriptor : nil }

        /// What the server has chosen to speak, once TLS stands.
        var chosenProtocol: String? { tls?.chosenProtocol }

        /// Notes what the socket is ready for.
        func becameReady(_ readiness: Readiness) {
            let isOver = !readiness.isDisjoint(with: [.ended, .hungUp, .failed])
            if isOver { seesEnd = true }
            if isOver || readiness.contains(.reading) { canRead = true }
            if isOver || readiness.contains(.writing) { canWrite = true }
            if canWrite, !pending.isEmpty { flush() }
            owner?.channelIsReady()
        }

        /// Whether bytes have moved below TLS since the last time.
        func takeMovement() -> Bool {
            defer { hasMoved = false }
            return hasMoved
        }

        /// Notes that the socket is connected, and the connection's number.
        func didConnect(to address: HostAddress, number: Int) {
            canWrite = true
            endpoints = Endpoints(remote: address.text, local: HostAddress.local(of: descriptor)?.text, number: number)
        }

        /// Whether the connection stands, and nothing has come that nobody has asked for, not even a part of it; asks the system.
        var isQuiet: Bool {
            canRead = true
            if case .wait = read() { return isDrained }
            return false
        }

        /// Whether the system had nothing more when it was last asked, and nothing that it gave is left.
        var isDrained: Bool { !canRead && tls?.hasInput != true }

        // MARK: Receiving

        /// - Parameter most: How many bytes are taken of what comes without TLS.
        func read(atMost most: Int = .max) -> Reading {
            guard let tls else { return receive(atMost: most) }
            for _ in 0..<Self.mostPiecesOfTLS {
                switch tls.read(into: channels.plain) {
                case .bytes(let count): return .bytes(UnsafeRawBufferPointer(rebasing: channels.plain[..<count]))
                case .ended: return .ended(isClean: true)
                case .cut: return .ended(isClean: false)
                case .failed(let text):
                    // An alert that says so.
                    flush()
                    return .failed(.tls(text))
                case .wait: break
                }
                // It may have answered something of TLS's own.
                flush()
                guard pending.count <= Self.mostPending else {
                    return .failed(.tls("TLS failed: the server doesn't read what TLS answers."))
                }
                switch receive() {
                case .bytes(let bytes):
                    hasMoved = true
                    tls.feed(bytes)
                case .ended: tls.feedEnd()
                case .wait: return .wait
                case .failed(let failure): return .failed(failure)
                }
            }
            return .failed(.tls("TLS failed: the server sends nothing but messages of TLS's own."))
        }

        /// How many full pieces may come one after the other without a byte for the reader: messages of TLS's own could go on without an end.
        private static let mostPiecesOfTLS = 64

        private func receive(atMost most: Int = .max) -> Reading {
            let room = min(most, channels.received.count)
            while canRead {
                let count = recv(descriptor, channels.received.baseAddress, room, 0)
                if count > 0 {
                    // What comes from now on is reported.
                    if count < room, !seesEnd { canRead = false }
                    return .bytes(UnsafeRawBufferPointer(rebasing: channels.received[..<count]))
                }
                if count == 0 {
                    hasEnded = true
                    canRead = false
                    if mayHideReset, isClosedBySystem { noteSendingFailure(ECONNRESET) }
                } else if errno == EAGAIN {
                    canRead = false
                } else if errno != EINTR {
                    hasEnded = true
                    return .failed(.system(errno))
                }
            }
            guard hasEnded else { return .wait }
            return sendingFailure.map { .failed($0) } ?? .ended(isClean: tls == nil)
        }

        // MARK: Sending

        /// Sends as much of one piece or two as is taken now, and tells how much that is; zero: nothing until the channel is ready; nil:
        /// nothing ever again. There may still be something to be received then, and reading tells why.
        func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer = .init(start: nil, count: 0)) -> Int? {
            guard let tls else { return canWrite ? transmit(first, second) : 0 }
            guard flush() else { return nil }
            guard pending.isEmpty else { return 0 }
            sendsAfterReceiving = tls.isHeldUp
            guard !sendsAfterReceiving else { return 0 }
            var count = 0
            for piece in [first, second] {
                let part = UnsafeRawBufferPointer(rebasing: piece.prefix(Self.mostEncrypted - count))
                var taken = 0
                while taken < part.count {
                    let written = tls.write(UnsafeRawBufferPointer(rebasing: part[taken...]))
                    guard written > 0 else {
                        sendsAfterReceiving = true
                        break
                    }
                    taken += written
                }
                count += taken
                if taken < piece.count { break }
            }
            return flush() ? count : nil
        }

        /// Has the next read ask the system.
        func expectsSomething() { canRead = true }

        /// How much is encrypted ahead of what the system takes.
        private static let mostEncrypted = 64 << 10
        /// The same with what TLS answers meanwhile: as much again, since a server that reads takes all of either.
        private static let mostPending = 2 * mostEncrypted

        private func transmit(
            _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer = .init(start: nil, count: 0)
        ) -> Int? {
            while true {
                let count = withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { pieces in
                    pieces[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count)
                    pieces[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
                    var message = msghdr()
                    message.msg_iov = pieces.baseAddress
                    message.msg_iovlen = second.isEmpty ? 1 : 2
                    return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                }
                if count >= 0 {
                    transmitted += count
                    if count < first.count + second.count { canWrite = false }
                    return count
                }
                guard errno == EINTR || errno == EAGAIN else {
                    noteSendingFailure(errno)
                    return nil
                }
                if errno == EAGAIN {
                    canWrite = false
                    return 0
                }
            }
        }

        func noteSendingFailure(_ number: Int32) { sendingFailure = sendingFailure ?? ChannelFailure.ofSending(number) }

        /// Sends what TLS has made; false when that can't be done any more.
        @discardableResult
        private func flush() -> Bool {
            guard let tls else { return true }
            tls.takeOutput(into: &pending)
            while pendingSent < pending.count, canWrite {
                let sent = pending.withUnsafeBytes { transmit(UnsafeRawBufferPointer(rebasing: $0[pendingSent...])) }
                guard let sent else { return false }
                if sent > 0 { hasMoved = true }
                pendingSent += sent
            }
            if pendingSent == pending.count {
                pending.removeAll(keepingCapacity: pending.count <= 4 << 10)
                pendingSent = 0
            }
            return true
        }

        // MARK: TLS

        func beginTLS(_ session: TLSSession) { tls = session }

        /// Goes on with the handshake; true when it is done.
        func handshake() throws(ChannelFailure) -> Bool {
            guard let tls else { return true }
            while true {
                let progress = tls.handshake()
                flush()
                switch progress {
                case .done:
                    // What leads to a proxy doesn't secure the exchange.
                    endpoints.tlsVersion = tls.isForProxy ? nil : tls.version
                    endpoints.isResumedSession = tls.isForProxy ? nil : tls.isResumed
                    return true
                case .cut: throw .ended
                case .failed(let text): throw .tls(text)
                case .wait: break
                }
                switch receive() {
                case .bytes(let bytes): tls.feed(bytes)
                case .wait: return false
                case .ended: throw .ended
                case .failed(let failure): throw failure
                }
            }
        }
    }

    /// Both ends of a connection.
    struct Endpoints {
        var remote: (address: String, port: Int)?
        var local: (address: String, port: Int)?
        /// Nil without TLS.
        var tlsVersion: String?
        /// Whether TLS goes on with an earlier session; nil without TLS.
        var isResumedSession: Bool?
        /// No other connection of the transport has the same.
        var number = 0
    }

    /// Why nothing more can be sent or received.
    enum ChannelFailure: Error {
        case system(Int32)
        /// By the peer, in the handshake.
        case ended
        case tls(String)

        /// Why nothing more can be sent; nil as long as that may still change, and where the other side had ended before (`EPIPE`), which
        /// leaves what it has sent whole.
        static func ofSending(_ number: Int32) -> ChannelFailure? {
            [EAGAIN, EINTR, ENOBUFS, ENOMEM, EPIPE].contains(number) ? nil : .system(number)
        }

        var message: String {
            switch self {
            case .system(let number): "The connection failed: \(String(cString: strerror(number)))."
            case .ended: "The connection was closed in TLS's handshake."
            case .tls(let text): text
            }
        }
    }

    /// A loop's open channels, and its memory for what they receive. That belongs to none of them, so that an idle one costs next to nothing.
    ///
    /// Touched only on the loop's thread.
    final class Channels {
        /// Large enough that a long body costs few system calls.
        let received = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 16)
        /// What was received, once decrypted: a record at a time (RFC 8446 §5.1).
        let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
        let makeRoom: (any ChannelOwner) -> Bool
        private let poller: Poller
        /// By descriptor.
        @exclusivity(unchecked) private var open: [Channel?] = []
        @exclusivity(unchecked) private(set) var count = 0
        /// How many are to come of dials that have no socket yet, since they look a name up.
        @exclusivity(unchecked) var expected = 0

        /// - Parameter makeRoom: Closes one that isn't needed, so that there is a descriptor again; false when there is none.
        init(_ poller: Poller, makeRoom: @escaping (any ChannelOwner) -> Bool = { _ in false }) {
            self.poller = poller
            self.makeRoom = makeRoom
        }

        deinit {
            received.deallocate()
            plain.deallocate()
        }

        subscript(descriptor: Int32) -> Channel? { Int(descriptor) < open.count ? open[Int(descriptor)] : nil }

        func closeAll() {
            for channel in open { channel?.close() }
        }

        fileprivate func add(_ channel: Channel) -> Bool {
            guard poller.add(channel.descriptor, for: [.reading, .writing, .ended, .edges]) else { return false }
            let place = Int(channel.descriptor)
            if place >= open.count { open += Array(repeating: nil, count: max(64, place + 1 - open.count)) }
            open[place] = channel
            count += 1
            return true
        }

        /// The system takes a closed socket out of the poller itself.
        fileprivate func remove(_ channel: Channel) {
            open[Int(channel.descriptor)] = nil
            count -= 1
        }
    }
#endif
