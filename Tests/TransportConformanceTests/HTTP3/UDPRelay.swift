#if os(Linux)
    import Foundation
    import Glibc
    import Interception
    import MidstreamLoop
    import TestSupport

    /// A port of UDP on loopback that passes packets on to another one and back, or doesn't, as the test has it.
    final class UDPRelay: Sendable {
        /// What becomes of packets, each way.
        enum Weather: Sendable {
            case fine
            /// One in so many is lost.
            case losesOneIn(Int)
            /// Each comes so much later.
            case delays(milliseconds: Int)
            /// None gets through.
            case cut
        }

        private struct State {
            var weather: Weather
            var passed = 0
            var lost = 0
            var isOver = false
        }

        /// Held by the thread, and so there as long as that.
        private final class Progress: Sendable {
            let state: Locked<State>
            init(_ weather: Weather) { state = Locked(State(weather: weather)) }
        }

        let port: Int
        private let progress: Progress

        var origin: String { "https://localhost:\(port)" }
        /// How many packets have got through.
        var passed: Int { progress.state.withLock { $0.passed } }
        /// How many haven't.
        var lost: Int { progress.state.withLock { $0.lost } }

        /// - Parameters:
        ///   - destination: The port that packets are passed on to.
        ///   - port: Its own; zero: any.
        init(to destination: Int = HTTP3.port, at port: Int = 0, _ weather: Weather = .fine) throws {
            let (front, bound) = try UDPSocket.bound(to: port)
            self.port = bound
            let progress = Progress(weather)
            self.progress = progress
            Belongings.current?.add(progress)
            Thread.detachNewThread {
                var crossing = Crossing(front: front, destination: SocketCall.loopback(port: destination))
                while let weather = progress.state.withLock({ $0.isOver ? nil : $0.weather }) {
                    let (passed, lost) = crossing.step(weather)
                    progress.state.withLock { state in
                        state.passed += passed
                        state.lost += lost
                    }
                }
                crossing.close()
            }
        }

        deinit { progress.state.withLock { $0.isOver = true } }

        func turn(_ weather: Weather) { progress.state.withLock { $0.weather = weather } }
    }

    /// The packets on their way, on the relay's thread.
    private struct Crossing {
        private struct Packet {
            let due: UInt64
            let bytes: [UInt8]
            let socket: Int32
            /// Nil: where the socket is connected to.
            let address: sockaddr_in?
        }

        let front: Int32
        let destination: sockaddr_in
        /// A socket for each client, by the client's port in network order.
        private var backs: [in_port_t: Int32] = [:]
        private var clients: [Int32: sockaddr_in] = [:]
        private var waiting: [Packet] = []
        private var count = 0
        private var buffer = [UInt8](repeating: 0, count: 1 << 16)

        init(front: Int32, destination: sockaddr_in) {
            self.front = front
            self.destination = destination
        }

        func close() { for socket in [front] + clients.keys { _ = Glibc.close(socket) } }

        /// Moves what there is, or waits for some of it; returns how many packets have got through and how many were lost.
        mutating func step(_ weather: UDPRelay.Weather) -> (passed: Int, lost: Int) {
            var polled = ([front] + clients.keys).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let now = MonotonicTime.now()
            let pause = waiting.first.map { $0.due > now ? Int32(($0.due - now) / 1_000_000) + 1 : 0 } ?? 20
            poll(&polled, nfds_t(polled.count), min(pause, 20))
            var lost = 0
            for entry in polled where entry.revents != 0 {
                while let packet = receive(entry.fd, weather) {
                    count += 1
                    switch weather {
                    case .cut: lost += 1
                    case .losesOneIn(let number) where count.isMultiple(of: number): lost += 1
                    default: waiting.append(packet)
                    }
                }
            }
            let time = MonotonicTime.now()
            let due = waiting.prefix { $0.due <= time }
            for packet in due { send(packet) }
            waiting.removeFirst(due.count)
            return (due.count, lost)
        }

        /// A packet that has come on a socket, and where it has to go.
        private mutating func receive(_ socket: Int32, _ weather: UDPRelay.Weather) -> Packet? {
            var source = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let size = buffer.count
            let received = withUnsafeMutablePointer(to: &source) { source in
                source.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(socket, &buffer, size, Int32(MSG_DONTWAIT), $0, &length)
                }
            }
            guard received > 0 else { return nil }
            var delay: UInt64 = 0
            if case .delays(let milliseconds) = weather { delay = UInt64(milliseconds) * 1_000_000 }
            let due = MonotonicTime.now() + delay
            let bytes = Array(buffer[..<received])
            if let client = clients[socket] { return Packet(due: due, bytes: bytes, socket: front, address: client) }
            return back(for: source).map { Packet(due: due, bytes: bytes, socket: $0, address: nil) }
        }

        private mutating func back(for client: sockaddr_in) -> Int32? {
            if let back = backs[client.sin_port] { return back }
            guard let (back, _) = try? UDPSocket.bound(to: 0) else { return nil }
            var address = destination
            withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = connect(back, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            backs[client.sin_port] = back
            clients[back] = client
            return back
        }

        private func send(_ packet: Packet) {
            guard var address = packet.address else {
                Glibc.send(packet.socket, packet.bytes, packet.bytes.count, 0)
                return
            }
            withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = sendto(packet.socket, packet.bytes, packet.bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }

    enum UDPSocket {
        /// A socket at a port, or at any if that is zero.
        static func bound(to port: Int) throws -> (descriptor: Int32, port: Int) {
            let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = SocketCall.loopback(port: port)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
                }
            }
            guard isBound else {
                close(descriptor)
                throw POSIXError(.EADDRINUSE)
            }
            return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
        }

        /// One at which nobody listens, below those that the kernel gives to whoever asks for any.
        static func freePort() throws -> Int {
            for _ in 0..<100 {
                guard let (descriptor, port) = try? bound(to: .random(in: 20_000..<32_000)) else { continue }
                close(descriptor)
                return port
            }
            throw POSIXError(.EADDRINUSE)
        }
    }
#endif
