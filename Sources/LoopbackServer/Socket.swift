internal import MidstreamPlatform
internal import Interception

/// The peer has gone, or the server is shutting down: nothing more can be done on the connection.
package struct ConnectionEnded: Error {
    package init() {}
}

/// A connected stream socket with blocking calls.
///
/// One thread receives and closes; any may send meanwhile, which closing breaks off, but not with a deadline, for which the descriptor is made
/// not to block. Any may call ``interrupt()``, which makes the blocked ones return.
package final class Socket: Sendable {
    private struct State {
        var isOpen = true
        var isInterrupted = false
        /// How many are sending. The last of them gives the descriptor back, which may be another connection's at once.
        var senders = 0
    }

    /// For calls that this type lacks, such as those of TLS in tests; closed with the socket.
    package let descriptor: Int32
    private let state = Locked(State())

    package init(descriptor: Int32) {
        self.descriptor = descriptor
        SocketOption.closeOnExec(descriptor)
        // On some systems it takes over the listener's not blocking.
        _ = fcntl(descriptor, F_SETFL, 0)
        // Small answers must not wait for the peer's acknowledgement of the last one.
        SocketOption.enable(TCP_NODELAY, level: Int32(IPPROTO_TCP), on: descriptor)
    }

    deinit { close() }

    /// Waits for bytes, no longer than to the deadline; 0 at the peer's end of sending.
    package func receive(
        into buffer: UnsafeMutableRawBufferPointer, until deadline: ContinuousClock.Instant? = nil
    ) throws -> Int {
        while true {
            if let deadline { try wait(for: POLLIN, until: deadline) }
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 { return count }
            guard errno == EINTR else { throw ConnectionEnded() }
        }
    }

    /// Sends what the system takes at once; how much that is. Nothing on Apple's platforms, where `send` waits whatever the call's flags say.
    package func sendAtOnce(_ bytes: UnsafeRawBufferPointer) throws -> Int {
        #if canImport(Darwin)
            return 0
        #else
            return try whileOpen {
                let count = MidstreamPlatform.send(descriptor, bytes.baseAddress, bytes.count, Self.flags | Int32(MSG_DONTWAIT))
                guard count < 0 else { return count }
                guard errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR else { throw ConnectionEnded() }
                return 0
            }
        #endif
    }

    /// Sends, and keeps the descriptor from being given back meanwhile.
    private func whileOpen<Value>(_ send: () throws -> Value) throws -> Value {
        try state.withLock { state in
            guard state.isOpen else { throw ConnectionEnded() }
            state.senders += 1
        }
        defer {
            state.withLock { state in
                state.senders -= 1
                if state.senders == 0, !state.isOpen { _ = MidstreamPlatform.close(descriptor) }
            }
        }
        return try send()
    }

    private static var flags: Int32 {
        #if canImport(Darwin)
            0
        #else
            Int32(MSG_NOSIGNAL)
        #endif
    }

    /// Sends everything, waiting for the peer to take it, no longer than to the deadline.
    package func send(_ bytes: UnsafeRawBufferPointer, until deadline: ContinuousClock.Instant? = nil) throws {
        try whileOpen {
            // Not by a flag of the call, which not every system heeds when sending. No other thread uses the socket meanwhile.
            if deadline != nil { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
            defer { if deadline != nil { _ = fcntl(descriptor, F_SETFL, 0) } }
            var rest = bytes[...]
            while !rest.isEmpty {
                if let deadline { try wait(for: POLLOUT, until: deadline) }
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = MidstreamPlatform.send(descriptor, part.baseAddress, part.count, Self.flags)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR, errno != EAGAIN, errno != EWOULDBLOCK {
                    throw ConnectionEnded()
                }
            }
        }
    }

    /// Waits until the socket can be read or written, or has failed.
    private func wait(for event: some BinaryInteger, until deadline: ContinuousClock.Instant) throws {
        var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        while true {
            let left = deadline - .now
            guard left > .zero else { throw ConnectionEnded() }
            let ready = poll(&waiting, 1, Int32(min((left / .milliseconds(1)).rounded(.up), Double(Int32.max))))
            if ready > 0 { return }
            guard ready == 0 || errno == EINTR else { throw ConnectionEnded() }
        }
    }

    /// Waits for so long; true as soon as the peer sends something or closes its side, or the socket is interrupted.
    package func waitForPeer(milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, milliseconds) > 0
    }

    /// Whether it was interrupted or the peer has closed its side. On Apple's platforms what it has sent and nobody has read hides that.
    package var isOver: Bool {
        if state.withLock({ $0.isInterrupted }) { return true }
        #if os(Linux)
            var peer = pollfd(fd: descriptor, events: Int16(0x2000 /* POLLRDHUP */), revents: 0)
            return poll(&peer, 1, 0) > 0
        #else
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        #endif
    }

    /// Makes a blocked call, and every later one, return at once. The peer sees the end of the stream.
    package func interrupt() {
        state.withLock { state in
            if state.isOpen { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
            state.isInterrupted = true
        }
    }

    /// Sends nothing more. The peer sees the end of the stream, and may still send.
    package func endSending() {
        state.withLock { if $0.isOpen { _ = shutdown(descriptor, Int32(SHUT_WR)) } }
    }

    /// Closes so that the peer can still read everything that was sent: a socket that is closed with unread input resets the
    /// connection, which destroys the answer on its way. So the input is read off first, for at most two seconds of silence, and
    /// not past the deadline although more comes.
    package func finish(until deadline: ContinuousClock.Instant? = nil) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { scratch in
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&waiting, 1, 2_000) > 0, recv(descriptor, scratch.baseAddress, scratch.count, 0) > 0 {
                if let deadline, deadline < .now { break }
            }
        }
        close()
    }

    /// Closes with a reset instead of an orderly end.
    package func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Closes at once. Harmless when repeated.
    package func close() {
        state.withLock { state in
            guard state.isOpen else { return }
            state.isOpen = false
            if state.senders == 0 { _ = MidstreamPlatform.close(descriptor) } else { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}

enum SocketOption {
    static func enable(_ name: Int32, level: Int32, on descriptor: Int32) {
        var on: Int32 = 1
        setsockopt(descriptor, level, name, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// A child process that inherited a connection would keep it open after the server has closed it.
    static func closeOnExec(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
}
