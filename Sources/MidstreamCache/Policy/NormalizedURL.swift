internal import MidstreamCore

/// URLs in the one form that all equivalent ones have (RFC 3986 §6.2.2–3), without a fragment.
enum NormalizedURL {
    static func text(_ url: String) -> String { isPlain(url) ? url : normalized(url) }

    /// Whether there is nothing to do, as for most.
    private static func isPlain(_ url: String) -> Bool {
        url.utf8.withContiguousStorageIfAvailable { bytes in
            let start = bytes.starts(with: "https://".utf8) ? 8 : bytes.starts(with: "http://".utf8) ? 7 : bytes.count
            guard start < bytes.count else { return false }
            var place = start
            while place < bytes.count, bytes[place] != UInt8(ascii: "/") {
                // A port is left to the closer look, and so is what has no path.
                let byte = bytes[place]
                guard
                    0x61...0x7A ~= byte || 0x30...0x39 ~= byte || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
                        || (byte == UInt8(ascii: ":") && !isStandardPort(bytes, at: place + 1, isSecure: start == 8))
                else { return false }
                place += 1
            }
            guard place < bytes.count else { return false }
            while place < bytes.count {
                switch bytes[place] {
                case UInt8(ascii: "%"), UInt8(ascii: "#"): return false
                case UInt8(ascii: ".") where bytes[place - 1] == UInt8(ascii: "/"): return false
                default: place += 1
                }
            }
            return true
        } ?? false
    }

    private static func isStandardPort(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int, isSecure: Bool) -> Bool {
        let port = bytes[place...].prefix { $0 != UInt8(ascii: "/") }
        return port.isEmpty || port.first == 48 || port.elementsEqual((isSecure ? "443" : "80").utf8)
    }

    private static func normalized(_ url: String) -> String {
        var parts = URLText(url)
        parts.fragment = nil
        guard let origin = HTTPOrigin(url) else { return parts.text }
        let path = URLText.removingDotSegments(decodingUnreserved(parts.path.isEmpty ? "/" : parts.path)[...])
        return "\(origin)\(path)" + (parts.query.map { "?\(decodingUnreserved($0))" } ?? "")
    }

    /// Percent-encodings of characters that need none undone, and others in capital letters.
    static func decodingUnreserved(_ text: Substring) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "%")) else { return String(text) }
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var place = 0
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "%"), place + 2 < bytes.count, let high = bytes[place + 1].hexadecimalValue,
                let low = bytes[place + 2].hexadecimalValue
            {
                let byte = high << 4 | low
                if byte.isUnreserved {
                    plain.append(byte)
                } else {
                    plain += [UInt8(ascii: "%"), high.hexadecimalDigit, low.hexadecimalDigit]
                }
                place += 3
            } else {
                plain.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
