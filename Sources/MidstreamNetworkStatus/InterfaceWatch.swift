#if os(Linux)
    internal import Dispatch
    internal import MidstreamCore
    internal import MidstreamPlatform

    /// Hears of each change of an interface or an address. What the messages say is of no interest, so that lost ones (`ENOBUFS`) are like any
    /// other: somebody asks again.
    ///
    /// `@unchecked Sendable`: all is constant, and sources of Dispatch can be used on any thread.
    final class InterfaceWatch: @unchecked Sendable {
        private let source: any DispatchSourceRead

        /// Begins a watch on a socket of the kernel's, and returns what ends it.
        static func begin(_ changed: @escaping @Sendable () -> Void) throws -> @Sendable () -> Void {
            // A `sockaddr_nl` of the groups RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE and RTMGRP_IPV6_IFADDR, whose header
            // Glibc's module lacks.
            var address = sockaddr()
            address.sa_family = sa_family_t(AF_NETLINK)
            withUnsafeMutableBytes(of: &address) {
                $0.storeBytes(of: 0x1 | 0x10 | 0x40 | 0x100, toByteOffset: 8, as: UInt32.self)
            }
            let socket = socket(AF_NETLINK, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0, MidstreamPlatform.bind(socket, &address, socklen_t(MemoryLayout<sockaddr>.size)) == 0 else {
                let reason = String(cString: strerror(errno))
                if socket >= 0 { MidstreamPlatform.close(socket) }
                throw HTTPError(.unsupported, "The system doesn't tell of changes of the network: \(reason).")
            }
            return InterfaceWatch(socket: socket, changed).end
        }

        /// - Parameters:
        ///   - socket: Whatever comes on it is a change. It is closed at the end.
        ///   - changed: Called once at the beginning, and after changes, on a queue.
        init(socket: Int32, _ changed: @escaping @Sendable () -> Void) {
            let queue = DispatchQueue(label: "midstream.network-status")
            source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
            source.setEventHandler {
                Self.empty(socket)
                changed()
            }
            // It is there as long as its socket is.
            source.setCancelHandler { withExtendedLifetime(self) { _ = MidstreamPlatform.close(socket) } }
            source.activate()
            queue.async(execute: changed)
            ResourceWitness.tell(of: self)
        }

        @Sendable func end() { source.cancel() }

        private static func empty(_ socket: Int32) {
            var byte: UInt8 = 0
            var count: Int
            // The rest of a message is dropped with its first byte.
            repeat {
                count = recv(socket, &byte, 1, Int32(MSG_DONTWAIT))
            } while count > 0 || count < 0 && (errno == ENOBUFS || errno == EINTR)
        }
    }
#endif
