import Foundation
import LoopbackServer
import MidstreamCore
import TestSupport

/// A loopback server that sends the very bytes a test wants, one thread for each connection.
final class RawServer: Sendable {
    private let listener: Listener

    init(_ serve: @escaping @Sendable (RawConnection) -> Void) throws {
        listener = try Listener(port: 0)
        Belongings.current?.add(listener)
        try listener.start { socket, _ in serve(RawConnection(socket)) }
    }

    deinit { try? listener.stop() }

    var port: Int { listener.port }
    var url: String { "http://127.0.0.1:\(port)" }
    /// How many connections were accepted.
    var connectionCount: Int { listener.acceptedConnections }

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
    private let socket: Socket
    private var received: [UInt8] = []

    init(_ socket: Socket) { self.socket = socket }

    /// Writes everything; false when the other side has gone.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool { (try? bytes.withUnsafeBytes { try socket.send($0) }) != nil }

    /// Waits for more bytes; false when the other side has closed.
    @discardableResult
    func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        guard let count = try? buffer.withUnsafeMutableBytes({ try socket.receive(into: $0) }), count > 0 else { return false }
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
