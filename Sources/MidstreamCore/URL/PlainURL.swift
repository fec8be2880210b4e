internal import MidstreamPlatform

/// Recognises URLs that need no processing, as most do, in one pass over the bytes.
enum PlainURL {
    /// Whether the text is an absolute http or https URL of a plain host, in which each character may stand as it is.
    static func isAbsolute(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            let (hostCharacters, plainCharacters) = (ASCIISet.unreserved, ASCIISet.plainURL)
            let start = bytes.begins(with: "http://") ? 7 : bytes.begins(with: "https://") ? 8 : bytes.count
            var place = start
            while place < bytes.count, hostCharacters.contains(bytes[place]) { place += 1 }
            guard place > start, place - start <= URLText.maximumHost else { return false }
            if place < bytes.count, bytes[place] == UInt8(ascii: ":") {
                var port = 0
                place += 1
                while place < bytes.count, 48...57 ~= bytes[place], port < 65536 {
                    port = port * 10 + Int(bytes[place] - 48)
                    place += 1
                }
                guard 1...65535 ~= port else { return false }
            }
            guard place < bytes.count else { return true }
            guard bytes[place] == UInt8(ascii: "/") || bytes[place] == UInt8(ascii: "?") || bytes[place] == UInt8(ascii: "#")
            else { return false }
            while place < bytes.count, plainCharacters.contains(bytes[place]) { place += 1 }
            return place == bytes.count
        } ?? false
    }

    /// The URL of a plain path under a plain base, such as `/users` under `https://h/v2`; nil when either needs a closer look.
    static func joined(_ path: String, to base: String) -> String? {
        let isPlainPath =
            path.utf8.withContiguousStorageIfAvailable { bytes in
                let plainCharacters = ASCIISet.plainURL
                guard let first = bytes.first, first != UInt8(ascii: "?"), first != UInt8(ascii: "#") else { return false }
                let isNetworkPath = bytes.count > 1 && first == UInt8(ascii: "/") && bytes[1] == first
                return !isNetworkPath && bytes.allSatisfy { plainCharacters.contains($0) && $0 != UInt8(ascii: ":") }
            } ?? false
        guard isPlainPath, isAbsolute(base), !base.utf8.contains(where: { "?#@".utf8.contains($0) }) else { return nil }
        let hasSlash = path.utf8.first == UInt8(ascii: "/")
        return switch (base.utf8.last == UInt8(ascii: "/"), hasSlash) {
        case (true, true): "\(Substring(base.utf8.dropLast()))\(path)"
        case (false, false): "\(base)/\(path)"
        default: base + path
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these bytes come first.
    fileprivate func begins(with start: StaticString) -> Bool {
        guard let baseAddress, count >= start.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress, start.utf8Start, start.utf8CodeUnitCount) == 0
    }
}
