#if os(Linux)
    import Foundation
    import Interception
    import TestSupport

    /// A server of one thread for as many connections as come. It answers nobody before a crowd is waiting, and then everybody at once,
    /// except that the last byte of `/stalled` comes when the test says so.
    final class CrowdServer: Sendable {
        private struct State {
            var accepted = 0
            var waiting: [Int32] = []
            var isCrowded = false
            var stalled: Int32?
        }
        /// Held by the thread, and so there as long as that.
        private final class Progress: Sendable {
            let state = Locked(State())
        }

        private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"

        let url: String
        private let listener: Int32
        private let progress = Progress()
        private var state: Locked<State> { progress.state }

        /// - Parameter crowd: How many connections have to have a request, the one that stalls not counted.
        init(crowd: Int) throws {
            let (listener, port) = try Self.listener()
            self.listener = listener
            url = "http://127.0.0.1:\(port)"
            Belongings.current?.add(progress)
            Thread.detachNewThread { [progress] in
                Self.serve(listener, crowd, progress.state)
                withExtendedLifetime(progress) {}
            }
        }

        deinit { shutdown(listener, Int32(SHUT_RDWR)) }

        /// A socket of 127.0.0.1 that listens at a free port.
        private static func listener() throws -> (descriptor: Int32, port: Int) {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && listen(descriptor, 1024) == 0
                        && getsockname(descriptor, $0, &length) == 0
                }
            }
            guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
            return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
        }

        /// How many connections were made.
        var accepted: Int { state.withLock { $0.accepted } }

        /// Whether `/stalled` has been asked for and isn't answered.
        var isStalling: Bool { state.withLock { $0.stalled != nil } }

        /// Sends the last byte of `/stalled`.
        func endStall() {
            state.withLock { state in
                if let stalled = state.stalled { Self.write("k", to: stalled) }
                state.stalled = nil
            }
        }

        private static func serve(_ listener: Int32, _ crowd: Int, _ state: Locked<State>) {
            var watched = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            while poll(&watched, nfds_t(watched.count), -1) > 0 {
                for place in watched.indices.dropFirst() where watched[place].revents != 0 {
                    if answer(watched[place].fd, crowd, state) { continue }
                    close(watched[place].fd)
                    watched[place].fd = -1
                }
                let isWanted = watched[0].revents != 0
                watched.removeAll { $0.fd < 0 }
                guard isWanted else { continue }
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                state.withLock { $0.accepted += 1 }
                watched.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
            }
            for one in watched { close(one.fd) }
        }

        /// Answers what a connection has sent; false at its end.
        private static func answer(_ descriptor: Int32, _ crowd: Int, _ state: Locked<State>) -> Bool {
            var bytes = [UInt8](repeating: 0, count: 4 << 10)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { return false }
            let request = String(decoding: bytes[..<count], as: UTF8.self)
            // The end of a request that came in pieces.
            guard request.hasPrefix("GET ") else { return true }
            if request.hasPrefix("GET /stalled ") {
                write(head + "o", to: descriptor)
                state.withLock { $0.stalled = descriptor }
                return true
            }
            let ready = state.withLock { state -> [Int32] in
                guard !state.isCrowded else { return [descriptor] }
                state.waiting.append(descriptor)
                state.isCrowded = state.waiting.count == crowd
                return state.isCrowded ? state.waiting : []
            }
            for one in ready { write(head + "ok", to: one) }
            return true
        }

        private static func write(_ text: String, to descriptor: Int32) {
            let bytes = Array(text.utf8)
            send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }
#endif
