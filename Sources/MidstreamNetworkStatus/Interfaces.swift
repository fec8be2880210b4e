#if os(Linux)
    internal import Platform

    /// The machine's interfaces to networks.
    enum Interfaces {
        /// Whether one of them leads anywhere. True when the system doesn't say.
        static var areOnline: Bool {
            var first: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&first) == 0 else { return true }
            defer { freeifaddrs(first) }
            var next = first
            while let entry = next?.pointee {
                if let address = entry.ifa_addr, leadSomewhere(by: Int(entry.ifa_flags), address) { return true }
                next = entry.ifa_next
            }
            return false
        }

        /// Whether an address of an interface with these flags reaches further than to the neighbours.
        static func leadSomewhere(by flags: Int, _ address: UnsafePointer<sockaddr>) -> Bool {
            guard flags & (IFF_UP | IFF_RUNNING | IFF_LOOPBACK) == IFF_UP | IFF_RUNNING else { return false }
            let bytes = UnsafeRawPointer(address)
            return switch Int32(address.pointee.sa_family) {
            // Link-local is 169.254.0.0/16 (RFC 3927).
            case AF_INET:
                withUnsafeBytes(of: bytes.loadUnaligned(as: sockaddr_in.self).sin_addr) { !$0.starts(with: [169, 254]) }
            // Link-local is fe80::/10 (RFC 4291 §2.5.6).
            case AF_INET6:
                withUnsafeBytes(of: bytes.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { $0[0] != 0xfe || $0[1] >> 6 != 2 }
            default: false
            }
        }
    }
#endif
