#if os(Linux)
    import Foundation
    import Interception
    import TestSupport

    /// A server whose first connection follows a script, frame by frame, and whose later ones answer well, over HTTP/2 or HTTP/1.1.
    final class HTTP2Server: Sendable {
        /// What the later connections answer.
        static let later = "later"

        private let raw: RawServer

        var url: String { raw.url }
        var port: Int { raw.port }
        /// How many connections were made.
        var accepted: Int { raw.accepted }

        /// - Parameters:
        ///   - tls: Nil: HTTP/2 is known beforehand.
        ///   - script: What the first connection does, from its first byte; it is closed when the script returns. Nil: it answers well.
        init(tls: TLSServer? = nil, _ script: (@Sendable (HTTP2Peer) -> Void)? = nil) throws {
            let script = Locked(script)
            raw = try RawServer.http2(tls: tls) { peer in
                let first = script.withLock { script in
                    defer { script = nil }
                    return script
                }
                if let first { first(peer) } else { Self.answerAll(peer) }
            }
        }

        private static func answerAll(_ peer: HTTP2Peer) {
            guard !peer.speaksHTTP2 else {
                if peer.begin() { peer.answerAll() }
                return
            }
            while peer.connection.readRequest() != nil {
                peer.connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(later.utf8.count)\r\n\r\n\(later)")
            }
        }
    }

    extension RawServer {
        /// A server each of whose connections follows a script, from its first byte.
        static func http2(tls: TLSServer? = nil, _ script: @escaping @Sendable (HTTP2Peer) -> Void) throws -> RawServer {
            try RawServer(tls: tls) { script(HTTP2Peer($0)) }
        }
    }

    /// The client, as a server sees it; used on the connection's own thread alone.
    struct HTTP2Peer {
        let connection: RawConnection

        init(_ connection: RawConnection) { self.connection = connection }

        /// Whether the client begins with HTTP/2.
        var speaksHTTP2: Bool { connection.next(3) == Array("PRI".utf8) }

        /// Reads the client's preface and sends the server's (RFC 9113 §3.4); false when the client is gone.
        func begin(_ settings: [UInt8] = HTTP2Frame.settings()) -> Bool {
            readPreface() && write(settings)
        }

        func readPreface() -> Bool { connection.read(24) == Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) }

        /// The stream of the next request that has come to its end; nil when the client is gone. Answers settings and pings.
        ///
        /// - Parameter seen: Told the kind of each frame.
        func nextRequest(_ seen: (HTTP2Frame.Kind) -> Void = { _ in }) -> UInt32? {
            while let (kind, flags, stream, payload) = readFrame() {
                seen(kind)
                switch kind {
                case .settings where flags & HTTP2Frame.acknowledgement == 0:
                    write(HTTP2Frame.make(.settings, HTTP2Frame.acknowledgement))
                case .ping where flags & HTTP2Frame.acknowledgement == 0:
                    write(HTTP2Frame.make(.ping, HTTP2Frame.acknowledgement, payload))
                case .headers where flags & HTTP2Frame.endStream != 0, .data where flags & HTTP2Frame.endStream != 0:
                    return stream
                default: break
                }
            }
            return nil
        }

        /// Answers each request well, until the client is gone.
        func answerAll() {
            while let stream = nextRequest() { write(HTTP2Frame.response(HTTP2Server.later, stream: stream)) }
        }

        /// False when the client is gone.
        @discardableResult
        func write(_ bytes: [UInt8]) -> Bool { connection.write(bytes) }

        /// Sends the same until the client is gone.
        func flood(_ frames: [UInt8]) {
            let some = Array(repeatElement(frames, count: max(1, 16_000 / frames.count)).joined())
            while write(some) {}
        }

        /// Waits until the client has dealt with what it was sent; false when it is gone.
        ///
        /// - Parameter seen: Told the kind of each frame that comes first, and its stream.
        func waitForEcho(_ seen: (HTTP2Frame.Kind, UInt32) -> Void = { _, _ in }) -> Bool {
            write(HTTP2Frame.make(.ping, 0, [1, 2, 3, 4, 5, 6, 7, 8]))
            while let (kind, flags, stream, _) = readFrame() {
                if kind == .ping, flags & HTTP2Frame.acknowledgement != 0 { return true }
                seen(kind, stream)
            }
            return false
        }

        /// Nil when the client is gone.
        func readFrame() -> (kind: HTTP2Frame.Kind, flags: UInt8, stream: UInt32, payload: [UInt8])? {
            guard let head = connection.read(9),
                let payload = connection.read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
            else { return nil }
            let stream = head[5...].reduce(0) { $0 << 8 | UInt32($1) }
            return (HTTP2Frame.Kind(rawValue: head[3]) ?? .unknown, head[4], stream, payload)
        }
    }
#endif
