#if os(Linux)
    import Glibc
    internal import MidstreamLoop

    /// An address that a socket can be connected to.
    struct HostAddress: Sendable, Equatable {
        private var storage = sockaddr_storage()
        private(set) var length: socklen_t

        /// Copies what the system has found; nil when it is too long.
        init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
            guard Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
            self.length = length
            withUnsafeMutableBytes(of: &storage) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
            }
        }

        /// - Parameters:
        ///   - text: An address of IPv4, or one of IPv6 with or without brackets; nil is returned for anything else.
        ///   - zone: That of an address of IPv6; nil is returned for one that this machine doesn't have.
        init?(literal text: some StringProtocol, port: UInt16, zone: String? = nil) {
            let inner = text.withinBrackets
            let text = inner ?? String(text)
            var four = sockaddr_in()
            if inner == nil, inet_pton(AF_INET, text, &four.sin_addr) == 1 {
                four.sin_family = sa_family_t(AF_INET)
                four.sin_port = port.bigEndian
                self.init(copying: four)
                return
            }
            // A scope, as in fe80::1%eth0, is the system's to read.
            var six = sockaddr_in6()
            guard inet_pton(AF_INET6, text, &six.sin6_addr) == 1 else { return nil }
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            if let zone {
                guard let scope = Self.scope(ofZone: zone) else { return nil }
                six.sin6_scope_id = scope
            }
            self.init(copying: six)
        }

        /// The number of one of this machine's networks, by which it may be called itself; nil when there is none of the name.
        static func scope(ofZone name: String) -> UInt32? {
            let number = UInt32(name) ?? if_nametoindex(name)
            return number > 0 ? number : nil
        }

        /// - Parameter text: An address, with a port or without; nil is returned for anything else.
        init?(_ text: String, defaultPort: UInt16) {
            guard let address = AddressText(text) else { return nil }
            self.init(literal: address.host, port: address.port ?? defaultPort)
        }

        /// A unix domain socket; nil when the path is empty or too long.
        init?(unixPath path: String) {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            self.init(copying: address)
        }

        private init<Address>(copying address: Address) {
            length = socklen_t(MemoryLayout<Address>.size)
            withUnsafeMutableBytes(of: &storage) { storage in
                withUnsafeBytes(of: address) { storage.copyMemory(from: $0) }
            }
        }

        static func == (first: HostAddress, second: HostAddress) -> Bool {
            first.length == second.length
                && withUnsafeBytes(of: first.storage) { first in withUnsafeBytes(of: second.storage) { first.elementsEqual($0) } }
        }

        var family: Int32 { Int32(storage.ss_family) }

        /// The bytes of an IPv4 or IPv6 address; nil for a unix domain socket.
        var bytes: [UInt8]? { withSocketAddress { address, _ in AddressRange.bytes(of: address) } }

        /// Calls `body` with the address as the system takes it.
        func withSocketAddress<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
            withUnsafePointer(to: storage) { storage in
                storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
            }
        }

        /// The address as text, and its port; nil for a unix domain socket.
        var text: (address: String, port: Int)? {
            guard var address = bytes else { return nil }
            // Where the port is in either kind of address.
            let port = withUnsafeBytes(of: storage) { $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self) }
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { name in
                inet_ntop(family, &address, name.baseAddress, socklen_t(name.count))
                    .map { (String(cString: $0), Int(UInt16(bigEndian: port))) }
            }
        }

        /// The own end of a connected socket; nil when there is none with a port.
        static func local(of descriptor: Int32) -> HostAddress? { end { getsockname(descriptor, $0, $1) } }

        /// The other end of a connected socket.
        static func remote(of descriptor: Int32) -> HostAddress? { end { getpeername(descriptor, $0, $1) } }

        private static func end(
            _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
        ) -> HostAddress? {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    ask(address, &length) == 0 ? HostAddress(address, length: length) : nil
                }
            }
        }
    }
#endif
