import Foundation
import Interception
import MidstreamCore
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A loopback server that sends the very bytes a test wants, one thread for each connection.
final class RawServer: Sendable {
    /// Held by the threads, and so there as long as one of them.
    private final class Progress: Sendable {
        let state = Locked((accepted: 0, isOver: false))
    }

    let port: UInt16
    private let progress = Progress()

    var url: String { "http://127.0.0.1:\(port)" }
    /// How many connections were accepted.
    var connectionCount: Int { progress.state.withLock { $0.accepted } }

    init(_ serve: @escaping @Sendable (RawConnection) -> Void) throws {
        let listener = Self.makeSocket()
        var address = Self.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, address, &size) == 0
            }
        }
        guard isBound else { throw CocoaError(.featureUnsupported) }
        port = UInt16(bigEndian: address.sin_port)
        Belongings.current?.add(progress)
        Thread.detachNewThread { [progress] in
            while true {
                let socket = accept(listener, nil, nil)
                let isOver = progress.state.withLock { state in
                    state.accepted += 1
                    return state.isOver || socket < 0
                }
                if isOver {
                    // Here rather than in deinit: another server could get the number while this thread still accepts with it.
                    close(listener)
                    close(socket)
                    return
                }
                Thread.detachNewThread {
                    let connection = RawConnection(socket)
                    serve(connection)
                    connection.close()
                    withExtendedLifetime(progress) {}
                }
            }
        }
    }

    /// Wakes the accepting thread with a connection, since closing the listener doesn't everywhere.
    deinit {
        progress.state.withLock { $0.isOver = true }
        let socket = Self.makeSocket()
        var address = Self.loopback(port: port)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = connect(socket, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        close(socket)
    }

    private static func makeSocket() -> Int32 {
        #if canImport(Darwin)
            socket(AF_INET, SOCK_STREAM, 0)
        #else
            socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    /// Answers each request with the same bytes and keeps the connection.
    static func answering(_ answer: String) throws -> RawServer {
        try RawServer { connection in
            while connection.readRequest() != nil { connection.write(answer) }
        }
    }

    /// Answers the one request with the same bytes and closes the connection.
    static func answeringOnce(_ answer: String) throws -> RawServer {
        try RawServer { connection in
            _ = connection.readRequest()
            connection.write(answer)
        }
    }

    /// Answers with the request as it came, as the body.
    static func echoing() throws -> RawServer {
        try RawServer { connection in
            while let request = connection.readRequest() {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(request.utf8.count)\r\n\r\n\(request)")
            }
        }
    }
}

/// One accepted connection; used by its own thread only.
final class RawConnection {
    private let socket: Int32
    private var received: [UInt8] = []

    init(_ socket: Int32) {
        self.socket = socket
        #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    func close() {
        #if canImport(Darwin)
            _ = Darwin.close(socket)
        #elseif canImport(Glibc)
            _ = Glibc.close(socket)
        #else
            _ = Musl.close(socket)
        #endif
    }

    /// Writes everything; false when the other side has gone.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
                let flags: Int32 = 0
            #else
                let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, flags) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits for more bytes; false when the other side has closed.
    @discardableResult
    func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &buffer, buffer.count, 0)
        if count <= 0 { return false }
        received += buffer[..<count]
        return true
    }

    /// Waits until the other side closes, and drops what comes before.
    func waitForClose() { while receive() { received = [] } }

    /// The next request with its body, which is read by `Content-Length` or to the last chunk; nil when there is none.
    func readRequest() -> String? {
        while true {
            let text = String(decoding: received, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let head = text[..<end.upperBound]
                let fields = head.lowercased()
                if let length = fields.firstMatch(of: /content-length: (\d+)/).flatMap({ Int($0.1) }) {
                    while received.count < head.utf8.count + length { guard receive() else { return nil } }
                    return take(head.utf8.count + length)
                }
                if fields.contains("transfer-encoding: chunked") {
                    while !received.ends(with: "0\r\n\r\n") { guard receive() else { return nil } }
                    return take(received.count)
                }
                return take(head.utf8.count)
            }
            guard receive() else { return nil }
        }
    }

    private func take(_ count: Int) -> String {
        defer { received.removeFirst(count) }
        return String(decoding: received.prefix(count), as: UTF8.self)
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}

extension HTTPRequest {
    /// The request as the client hands it to a transport when the whole body is wanted.
    func buffered(upTo limit: Int = 1 << 20) -> HTTPRequest {
        var request = self
        request.delivery = .buffered(upTo: limit)
        return request
    }
}

extension HTTPResponse {
    /// The body as text.
    func text() async throws -> String { String(decoding: try await body.collect(), as: UTF8.self) }
}

/// A thing that happens once and can be waited for.
final class Event: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func happen() {
        continuation.yield()
        continuation.finish()
    }

    func wait() async { for await _ in stream { return } }
}

/// The error that the operation throws, if it is an ``HTTPError``.
func failure(_ operation: () async throws -> some Any) async -> HTTPError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error as? HTTPError
    }
}
