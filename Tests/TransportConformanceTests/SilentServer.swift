import Foundation
import MidstreamCore
import TestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A loopback socket at which connections can be made, and which never reads from them nor writes to them by itself.
final class SilentServer: Sendable {
    struct Unavailable: Error {}

    let port: Int
    private let listener: Int32

    var url: String { "http://127.0.0.1:\(port)/" }

    /// - Parameter backlog: How many connections the system keeps until they are accepted.
    init(backlog: Int32 = 16) throws {
        let listener = try SocketCall.stream()
        var address = SocketCall.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, backlog) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isBound else {
            _ = close(listener)
            throw Unavailable()
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Belongings.current?.add(self)
    }

    deinit { _ = close(listener) }

    /// Waits for the next connection.
    func accepted() async -> Connection {
        let socket = await withCheckedContinuation { continuation in
            let server = self
            Thread.detachNewThread { continuation.resume(returning: accept(server.listener, nil, nil)) }
        }
        return Connection(socket)
    }

    final class Connection: Sendable {
        private let socket: Int32

        init(_ socket: Int32) {
            self.socket = socket
            Belongings.current?.add(self)
        }

        deinit { _ = close(socket) }

        /// Reads until the client closes; returns how many bytes came.
        @discardableResult
        func drained() async -> Int {
            await onThread { connection in
                var total = 0
                while let bytes = connection.read() { total += bytes.count }
                return total
            }
        }

        /// Reads until a text has come, which must lie within one piece; false when the client has closed before.
        func receives(_ text: String) async -> Bool {
            await onThread { connection in
                while let bytes = connection.read() {
                    if String(decoding: bytes, as: UTF8.self).contains(text) { return true }
                }
                return false
            }
        }

        func write(_ text: String) {
            _ = Array(text.utf8).withUnsafeBytes { send(socket, $0.baseAddress, $0.count, 0) }
        }

        private func read() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(socket, &buffer, buffer.count, 0)
            return count > 0 ? Array(buffer[..<count]) : nil
        }

        /// Reading blocks, and there are few threads for tasks.
        private func onThread<Value: Sendable>(_ work: @escaping @Sendable (Connection) -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: work(self)) }
            }
        }
    }
}

/// A port whose queue of connections is full, so that connecting to it neither succeeds nor fails.
///
/// The system drops the first packet of a connection then, and the client's system sends it again after a second.
final class FullPort: Sendable {
    private let server: SilentServer
    private let connections: [Int32]

    var url: String { server.url }

    init() throws {
        server = try SilentServer(backlog: 0)
        var address = SocketCall.loopback(port: server.port)
        var connections: [Int32] = []
        // More than any system adds to a backlog of zero.
        for _ in 0..<8 {
            let socket = try SocketCall.stream()
            _ = fcntl(socket, F_SETFL, O_NONBLOCK)
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            connections.append(socket)
        }
        self.connections = connections
    }

    deinit { for connection in connections { _ = close(connection) } }
}

/// Calls of the system that several of its kind need.
enum SocketCall {
    static func stream() throws -> Int32 {
        #if canImport(Glibc)
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let type = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw SilentServer.Unavailable() }
        return descriptor
    }

    static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}
