#if os(Linux)
    import Foundation
    import LoopbackServer

    /// A server on loopback whose every byte the test decides, on a thread for each connection.
    package final class RawServer: Sendable {
        private let listener: Listener
        private let isSecure: Bool

        /// Serves each connection by `serve`; the connection is closed when it returns.
        ///
        /// - Parameter tls: What connections begin with; nil: nothing.
        package init(tls: TLSServer? = nil, _ serve: @escaping @Sendable (RawConnection) -> Void) throws {
            isSecure = tls != nil
            listener = try Listener(port: 0)
            Belongings.current?.add(listener)
            try listener.start { socket, _ in
                if let tls {
                    TLSSession(tls, descriptor: socket.descriptor).map { serve(RawConnection(socket.descriptor, $0)) }
                } else {
                    serve(RawConnection(socket.descriptor))
                }
                // The end is sent first, since closing with unread input resets the connection.
                socket.interrupt()
            }
        }

        deinit { try? listener.stop() }

        /// Refuses connections from now on, and then ends those that there are.
        package func stop() throws { try listener.stop() }

        package var port: Int { listener.port }

        package var url: String { "\(isSecure ? "https" : "http")://127.0.0.1:\(port)" }

        /// How many connections were made.
        package var accepted: Int { listener.acceptedConnections }

        /// Answers every request of a connection with what `answer` makes of its head; bodies with a length are read first.
        package static func answering(_ answer: @escaping @Sendable (RawRequest) -> String) throws -> RawServer {
            try RawServer { connection in
                while let request = connection.readRequest() {
                    connection.write(answer(request))
                }
            }
        }
    }

    package struct RawRequest: Sendable {
        package var head: String
        package var body: [UInt8] = []
        init(head: String) { self.head = head }
        package var lines: [String] { head.components(separatedBy: "\r\n") }
    }

    /// One connection; used on its own thread alone.
    package final class RawConnection {
        private let descriptor: Int32
        private let tls: TLSSession?
        private var buffer: [UInt8] = []

        init(_ descriptor: Int32, _ tls: TLSSession? = nil) {
            self.descriptor = descriptor
            self.tls = tls
        }

        /// The head up to the empty line, without it; nil at the end of the connection.
        package func readHead() -> String? {
            let mark = Array("\r\n\r\n".utf8)
            while true {
                if let end = buffer.firstRange(of: mark) {
                    let head = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                    buffer.removeSubrange(..<end.upperBound)
                    return head
                }
                guard fill() else { return nil }
            }
        }

        /// A head and, when it names its length, a body.
        package func readRequest() -> RawRequest? {
            readHead().flatMap { readBody(after: $0) }
        }

        /// The rest of a request whose head has been read; nil when it doesn't come.
        package func readBody(after head: String) -> RawRequest? {
            var request = RawRequest(head: head)
            if let line = request.lines.first(where: { $0.lowercased().hasPrefix("content-length:") }),
                let length = Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces))
            {
                guard let body = read(length) else { return nil }
                request.body = body
            } else if request.lines.contains(where: { $0.lowercased() == "transfer-encoding: chunked" }) {
                guard let body = readChunks() else { return nil }
                request.body = body
            }
            return request
        }

        /// What comes next; it is still to be read. Nil at the end of the connection.
        package func next(_ count: Int) -> [UInt8]? {
            while buffer.count < count { guard fill() else { return nil } }
            return Array(buffer[..<count])
        }

        package func read(_ count: Int) -> [UInt8]? {
            while buffer.count < count { guard fill() else { return nil } }
            defer { buffer.removeFirst(count) }
            return Array(buffer[..<count])
        }

        /// What has come, at least one byte; nil at the end of the connection.
        package func readSome() -> [UInt8]? {
            guard next(1) != nil else { return nil }
            defer { buffer = [] }
            return buffer
        }

        private func readChunks() -> [UInt8]? {
            var body: [UInt8] = []
            while let line = readLine(), let size = Int(line, radix: 16) {
                guard let chunk = read(size + 2) else { return nil }
                body += chunk.dropLast(2)
                if size == 0 { return body }
            }
            return nil
        }

        private func readLine() -> String? {
            while true {
                if let end = buffer.firstRange(of: [13, 10]) {
                    let line = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                    buffer.removeSubrange(..<end.upperBound)
                    return line
                }
                guard fill() else { return nil }
            }
        }

        /// False when the peer is gone.
        @discardableResult
        package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        @discardableResult
        package func write(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { bytes in
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                    return tls?.write(rest) ?? send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        /// Has TLS 1.3 go on with other keys, both ways (RFC 8446 §4.6.3).
        package func updateKeys() { tls?.updateKeys() }

        /// Asks the peer for another handshake of TLS 1.2, which comes while something is read (RFC 5246 §7.4.1.1).
        package func renegotiate() { tls?.renegotiate() }

        /// Asks for the peer's certificate behind the handshake of TLS 1.3 (RFC 8446 §4.6.2), and says whether one has come.
        package func peerHasCertificate() -> Bool { tls?.hasCertificate() == true }

        /// Ends TLS as it has to be ended (RFC 8446 §6.1); nothing can be written after it.
        package func endTLS() { tls?.end() }

        /// Ends what is sent, and still receives (FIN). Closing the connection with something of the peer's unread would break it instead,
        /// and what has been written could be lost (RFC 9112 §9.6).
        package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

        /// Breaks the connection (RST). What has been written and read by then may be lost to the peer, too.
        package func reset() {
            // Closing it wouldn't be enough, as its end would have been announced before.
            var nowhere = sockaddr()
            nowhere.sa_family = sa_family_t(AF_UNSPEC)
            connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
        }

        /// Hands on what comes, both ways, between the peer and another server of this machine, until one of them has closed its connection.
        ///
        /// - Parameter passes: Whether what has just come is handed on, or lost.
        package func relay(to port: Int, _ passes: (_ bytes: [UInt8]) -> Bool = { _ in true }) {
            let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { Glibc.close(other) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            address.sin_port = in_port_t(port).bigEndian
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(other, $0, length) }
            }
            guard status == 0 else { return }
            let behind = RawConnection(other)
            var ends = [descriptor, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            while poll(&ends, 2, -1) > 0 {
                for (place, from, to) in [(0, self, behind), (1, behind, self)] where ends[place].revents != 0 {
                    guard from.fill(), !passes(from.buffer) || to.write(from.buffer) else { return }
                    from.buffer = []
                }
            }
        }

        /// Waits until the peer has closed the connection, or the server is stopped.
        package func waitForEnd() { while fill() { buffer.removeAll() } }

        /// The same without reading what the peer sends.
        package func waitForHangUp() {
            var wanted = pollfd(fd: descriptor, events: Int16(0x2000 /* POLLRDHUP */), revents: 0)
            while poll(&wanted, 1, -1) < 0 {}
        }

        private func fill() -> Bool {
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let count = chunk.withUnsafeMutableBytes { tls?.read(into: $0) ?? recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return false }
            buffer += chunk[..<count]
            return true
        }
    }
#endif
