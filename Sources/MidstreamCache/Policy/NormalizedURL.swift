internal import MidstreamCacheStore
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
        let text = origin.description
        let path = removingDots(decodingUnreserved(parts.path.isEmpty ? "/" : parts.path))
        return text + path + (parts.query.map { "?\(decodingUnreserved($0))" } ?? "")
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
                if isUnreserved(byte) {
                    plain.append(byte)
                } else {
                    plain.append(UInt8(ascii: "%"))
                    for digit in [high, low] { plain.append(digit < 10 ? digit + 0x30 : digit + 0x37) }
                }
                place += 3
            } else {
                plain.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The path without `.` and `..` (RFC 3986 §5.2.4).
    private static func removingDots(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        var kept: [Substring.UTF8View] = []
        let segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (place, segment) in segments.enumerated() {
            let isLast = place == segments.count - 1
            if segment.elementsEqual("..".utf8) {
                _ = kept.popLast()
                if isLast { kept.append(""[...].utf8) }
            } else if segment.elementsEqual(".".utf8) {
                if isLast { kept.append(""[...].utf8) }
            } else {
                kept.append(segment)
            }
        }
        return "/" + kept.map { String(Substring($0)) }.joined(separator: "/")
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
