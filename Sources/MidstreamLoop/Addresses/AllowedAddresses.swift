#if os(Linux)
    package import Glibc
    package import MidstreamCore
    package import MidstreamTransport

    /// Which addresses a configuration allows connections to.
    package struct AllowedAddresses: Sendable {
        /// Whether it allows all.
        package let isAny: Bool
        private let exceptions: [AddressRange]
        /// Why no request can be sent.
        package let problem: HTTPError?

        package init(_ destinations: TransportConfiguration.Destinations) {
            guard case .publicOnly(let texts) = destinations else {
                (isAny, exceptions, problem) = (true, [], nil)
                return
            }
            isAny = false
            exceptions = texts.compactMap { AddressRange($0) }
            problem =
                exceptions.count == texts.count
                ? nil
                : HTTPError(
                    .invalidRequest, "An exception in destinations is neither an address nor a range of them.", phase: .notSent)
        }

        /// Whether a socket may be connected to an address.
        package func contains(_ address: UnsafePointer<sockaddr>) -> Bool {
            isAny || AddressRange.bytes(of: address).map { contains($0) } ?? false
        }

        /// - Parameter bytes: Those of an IPv4 or an IPv6 address.
        func contains(_ bytes: [UInt8]) -> Bool {
            if exceptions.contains(where: { $0.contains(bytes) }) { return true }
            if bytes.count == 4 { return !SpecialAddresses.four.contains { $0.contains(bytes) } }
            guard bytes.count == 16 else { return false }
            if SpecialAddresses.six.contains(where: { $0.contains(bytes) }) { return false }
            if let four = SpecialAddresses.embedded(in: bytes) { return contains(four) }
            return SpecialAddresses.isGlobal(bytes)
        }
    }

    /// The addresses that aren't reachable from everywhere, by the registries of special ones (RFC 6890 and its successors).
    private enum SpecialAddresses {
        static let four = ranges(
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
            "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
            "224.0.0.0/3",
            // Azure's metadata.
            "168.63.129.16")

        /// Those among the global unicast ones; all others are special.
        static let six = ranges("2001::/23", "2001:db8::/32", "3fff::/20")

        private static let global = ranges("2000::/3")
        private static let withFourAtTheEnd = ranges("::ffff:0:0/96", "64:ff9b::/96")
        private static let sixToFour = ranges("2002::/16")

        static func isGlobal(_ bytes: [UInt8]) -> Bool { global.contains { $0.contains(bytes) } }

        /// The address of IPv4 that connections to one of IPv6 lead to, as far as it is known from outside.
        static func embedded(in bytes: [UInt8]) -> [UInt8]? {
            if withFourAtTheEnd.contains(where: { $0.contains(bytes) }) { return Array(bytes[12...]) }
            if sixToFour.contains(where: { $0.contains(bytes) }) { return Array(bytes[2..<6]) }
            // RFC 5214 §6.1
            let isISATAP = bytes[8] & 0xfd == 0 && Array(bytes[9..<12]) == [0, 0x5e, 0xfe]
            return isISATAP && isGlobal(bytes) ? Array(bytes[12...]) : nil
        }

        private static func ranges(_ texts: String...) -> [AddressRange] { texts.compactMap { AddressRange($0) } }
    }

    extension HTTPError {
        /// What a request to a host fails with that has no address of these.
        package static func noAllowedAddress(of host: String) -> HTTPError {
            HTTPError(
                .forbiddenDestination, "None of the addresses of \(host) is one that destinations allows.", phase: .notSent
            ).refusedHere
        }

        package static let destinationsBehindProxy = HTTPError.unsupported(
            "Where connections through a proxy lead isn't known here, so that destinations can't be kept to.")
    }
#endif
