internal import MidstreamPlatform
internal import Interception

/// A listening loopback socket and the pipe that ends the wait for connections.
package final class Listener: Sendable {
    private struct State {
        /// By their numbers.
        var connections: [Int: Socket] = [:]
        var accepted = 0
        var isStopped = false
    }

    package let port: Int
    private let descriptor: Int32
    private let wakeReader: Int32
    private let wakeWriter: Int32
    private let state = Locked(State())
    /// Set when nobody waits for connections any more and the socket is closed.
    private let ended = AsyncOutcome<Void>()

    /// Listens on a port of 127.0.0.1, or of ::1; 0 lets the system choose it.
    package init(port: Int, isIPv6: Bool = false) throws {
        (descriptor, self.port) = try Self.bound(port: port, isIPv6: isIPv6)
        var ends: [Int32] = [-1, -1]
        // Without blocking, since a connection that was announced may be gone again when it is accepted.
        guard listen(descriptor, 1024) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, pipe(&ends) == 0 else {
            let failure = ServerFailure.system("listen")
            _ = close(descriptor)
            throw failure
        }
        (wakeReader, wakeWriter) = (ends[0], ends[1])
        ends.forEach(SocketOption.closeOnExec)
    }

    deinit {
        _ = close(wakeReader)
        _ = close(wakeWriter)
    }

    /// Accepts connections, on a thread of its own, until ``stop()``.
    ///
    /// - Parameters:
    ///   - limit: How many there may be at a time; any other is closed at once.
    ///   - serve: Serves one, on a thread for it alone; it is closed then. They have numbers from 1, in the order in which they came.
    package func start(upTo limit: Int = .max, _ serve: @escaping @Sendable (Socket, _ number: Int) -> Void) throws {
        let isStarted = ServerThread.start { [self] in
            while let socket = accept() { begin(socket, upTo: limit, serve) }
            _ = close(descriptor)
            ended.finish(.success(()))
        }
        guard isStarted else {
            _ = close(descriptor)
            ended.finish(.success(()))
            throw ServerFailure("The system has no thread for the server.")
        }
    }

    private func begin(_ socket: Socket, upTo limit: Int, _ serve: @escaping @Sendable (Socket, Int) -> Void) {
        let number = state.withLock { state -> Int? in
            guard !state.isStopped, state.connections.count < limit else { return nil }
            state.accepted += 1
            state.connections[state.accepted] = socket
            return state.accepted
        }
        guard let number else { return socket.close() }
        let isStarted = ServerThread.start { [self] in
            serve(socket, number)
            socket.close()
            forget(number)
        }
        guard !isStarted else { return }
        socket.reset()
        forget(number)
    }

    private func forget(_ number: Int) { state.withLock { $0.connections[number] = nil } }

    /// How many connections there are.
    package var openConnections: Int { state.withLock { $0.connections.count } }
    /// How many there have been.
    package var acceptedConnections: Int { state.withLock { $0.accepted } }

    /// Ends those that there are, whatever they are doing.
    package func interruptConnections() {
        for socket in state.withLock({ Array($0.connections.values) }) { socket.interrupt() }
    }

    /// Waits for the next connection; nil once ``stop()`` has been called.
    private func accept() -> Socket? {
        while true {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waiting, 2, -1) > 0 || errno == EINTR, waiting[1].revents == 0 else { return nil }
            guard waiting[0].revents != 0 else { continue }
            let accepted = MidstreamPlatform.accept(descriptor, nil, nil)
            if accepted >= 0 { return Socket(descriptor: accepted) }
            // Out of descriptors: the connection stays in the queue, and asking again at once would spin.
            if errno == EMFILE || errno == ENFILE { _ = poll(&waiting[1], 1, 10) }
        }
    }

    /// Stops accepting, and then ends the connections. On return the port is free; threads may still be about to end.
    package func stop() throws {
        state.withLock { state in
            if !state.isStopped { _ = write(wakeWriter, [1] as [UInt8], 1) }
            state.isStopped = true
        }
        try ended.wait(unless: { false })
        interruptConnections()
        state.withLock { $0.connections = [:] }
    }

    /// A port that is taken but not listened on, so that connections to it are refused. It stays so as long as the process.
    package static let refusedPort = Result { try bound(port: 0, isIPv6: false).port }

    private static func bound(port: Int, isIPv6: Bool) throws -> (descriptor: Int32, port: Int) {
        guard let port = UInt16(exactly: port) else { throw ServerFailure("\(port) is no port.") }
        #if canImport(Glibc)
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #elseif canImport(Musl)
            let type = SOCK_STREAM | SOCK_CLOEXEC
        #else
            let type = SOCK_STREAM
        #endif
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, type, 0)
        guard descriptor >= 0 else { throw ServerFailure.system("socket") }
        SocketOption.closeOnExec(descriptor)
        #if canImport(Darwin)
            // Its connections take it over. Where one has broken before it was accepted it couldn't be set any more.
            SocketOption.enable(SO_NOSIGPIPE, level: SOL_SOCKET, on: descriptor)
        #endif
        if port != 0 { SocketOption.enable(SO_REUSEADDR, level: SOL_SOCKET, on: descriptor) }
        do {
            let chosen = try isIPv6 ? bind(descriptor, loopback6(port)) : bind(descriptor, loopback4(port))
            return (descriptor, Int(chosen))
        } catch {
            _ = close(descriptor)
            throw error
        }
    }

    private static func loopback4(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        return address
    }

    private static func loopback6(_ port: UInt16) -> sockaddr_in6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return address
    }

    /// Binds to an address and reads back the port that the system chose.
    private static func bind<Address>(_ descriptor: Int32, _ address: Address) throws -> UInt16 {
        var address = address
        var length = socklen_t(MemoryLayout<Address>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                let result = MidstreamPlatform.bind(descriptor, generic, length)
                return result == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard isBound else { throw ServerFailure.system("bind") }
        // Where the port is in either kind of address.
        return UInt16(bigEndian: withUnsafeBytes(of: address) { $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self) })
    }
}
