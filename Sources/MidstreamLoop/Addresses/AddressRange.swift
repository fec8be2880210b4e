#if os(Linux)
    package import Glibc

    /// Addresses of IPv4 or IPv6 that begin with the same bits (RFC 4632, RFC 4291 §2.3).
    package struct AddressRange: Sendable {
        private let bytes: [UInt8]
        private let length: Int

        /// - Parameter text: An address, with the length of the prefix behind a slash or without, which means that address alone; one of IPv6
        ///   with brackets or without. Nil is returned for anything else.
        package init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count <= 2, let bytes = Self.bytes(of: parts[0]) else { return nil }
            let longest = bytes.count * 8
            guard let length = parts.count == 1 ? longest : Self.number(parts[1]), length <= longest else { return nil }
            self.bytes = bytes
            self.length = length
        }

        private static func number(_ text: String) -> Int? {
            text.utf8.count <= 3 && text.utf8.allSatisfy { 48...57 ~= $0 } ? Int(text) : nil
        }

        private static func bytes(of text: String) -> [UInt8]? {
            let inner = text.withinBrackets
            let text = inner ?? text
            var four = in_addr()
            if inner == nil, inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
            var six = in6_addr()
            return inet_pton(AF_INET6, text, &six) == 1 ? withUnsafeBytes(of: six) { Array($0) } : nil
        }

        /// The bytes of an IPv4 or IPv6 address; nil for any other.
        package static func bytes(of address: UnsafePointer<sockaddr>) -> [UInt8]? {
            let start = UnsafeRawPointer(address)
            return switch Int32(address.pointee.sa_family) {
            case AF_INET: withUnsafeBytes(of: start.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
            case AF_INET6: withUnsafeBytes(of: start.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
            default: nil
            }
        }

        /// - Parameter address: Of 4 or 16 bytes.
        package func contains(_ address: [UInt8]) -> Bool {
            guard address.count == bytes.count else { return false }
            let whole = length / 8
            guard address[..<whole] == bytes[..<whole] else { return false }
            guard length % 8 > 0 else { return true }
            return (address[whole] ^ bytes[whole]) >> (8 - length % 8) == 0
        }
    }
#endif
