internal import Platform
internal import Interception

/// The peer has gone, or the server is shutting down: nothing more can be done on the connection.
struct ConnectionEnded: Error {}

/// A connected stream socket with blocking calls.
///
/// One thread receives, sends and closes. Any thread may call ``interrupt()``, which makes the blocked one return.
final class Socket: Sendable {
    private let descriptor: Int32
    private let isOpen = Locked(true)

    init(descriptor: Int32) {
        self.descriptor = descriptor
        SocketOption.closeOnExec(descriptor)
        // On some systems it takes over the listener's not blocking.
        _ = fcntl(descriptor, F_SETFL, 0)
        // Small answers must not wait for the peer's acknowledgement of the last one.
        SocketOption.enable(TCP_NODELAY, level: Int32(IPPROTO_TCP), on: descriptor)
        #if canImport(Darwin)
            SocketOption.enable(SO_NOSIGPIPE, level: SOL_SOCKET, on: descriptor)
        #endif
    }

    deinit { close() }

    /// Waits for bytes; 0 at the peer's end of sending.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 { return count }
            guard errno == EINTR else { throw ConnectionEnded() }
        }
    }

    /// Sends everything, waiting for the peer to take it.
    func send(_ bytes: UnsafeRawBufferPointer) throws {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = System.send(descriptor, part.baseAddress, part.count, flags)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw ConnectionEnded()
            }
        }
    }

    /// Whether the peer has closed its side, as far as that can be seen without reading what it has sent.
    var hasPeerLeft: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
    }

    /// Makes a blocked call, and every later one, return at once. The peer sees the end of the stream.
    func interrupt() {
        isOpen.withLock { if $0 { _ = shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    /// Closes so that the peer can still read everything that was sent: a socket that is closed with unread input resets the
    /// connection, which destroys the answer on its way. So the input is read off first, for at most `patience` milliseconds
    /// of silence.
    func finish(patience: Int32 = 2_000) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { scratch in
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&waiting, 1, patience) > 0, recv(descriptor, scratch.baseAddress, scratch.count, 0) > 0 {}
        }
        close()
    }

    /// Closes with a reset instead of an orderly end.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Closes at once. Harmless when repeated.
    func close() {
        isOpen.withLock { isOpen in
            if isOpen { _ = System.close(descriptor) }
            isOpen = false
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
