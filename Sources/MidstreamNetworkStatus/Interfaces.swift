#if os(Linux)
    internal import Foundation
    internal import MidstreamPlatform

    /// The machine's interfaces to networks.
    enum Interfaces {
        /// Whether one of them leads anywhere, or there is a default route: functions of AWS Lambda have link-local addresses alone. True when
        /// the system doesn't say.
        static var areOnline: Bool {
            var first: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&first) == 0 else { return true }
            defer { freeifaddrs(first) }
            var next = first
            var running: Set<String> = []
            while let entry = next?.pointee {
                let flags = Int(entry.ifa_flags)
                if isRunning(flags) { running.insert(String(cString: entry.ifa_name)) }
                if let address = entry.ifa_addr, leadSomewhere(by: flags, address) { return true }
                next = entry.ifa_next
            }
            return hasDefaultRoute(by: running)
        }

        /// By the kernel's table for IPv4, whose columns are interface, destination, gateway, flags, counts, metric, mask and others. Routes of
        /// an interface whose cable isn't plugged in stay in it.
        private static func hasDefaultRoute(by running: Set<String>) -> Bool {
            let table = (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8)) ?? ""
            return table.split(separator: "\n").contains { line in
                let columns = line.split(separator: "\t")
                guard columns.count > 7, running.contains(String(columns[0])), columns[1] == "00000000", columns[7] == "00000000"
                else {
                    return false
                }
                // RTF_UP, without RTF_REJECT.
                return UInt32(columns[3], radix: 16).map { $0 & 0x201 == 1 } ?? false
            }
        }

        /// Whether an interface with these flags is up, has its cable plugged in, and isn't the loopback.
        private static func isRunning(_ flags: Int) -> Bool {
            flags & (IFF_UP | IFF_RUNNING | IFF_LOOPBACK) == IFF_UP | IFF_RUNNING
        }

        /// Whether an address of an interface with these flags reaches further than to the neighbours.
        static func leadSomewhere(by flags: Int, _ address: UnsafePointer<sockaddr>) -> Bool {
            guard isRunning(flags) else { return false }
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
