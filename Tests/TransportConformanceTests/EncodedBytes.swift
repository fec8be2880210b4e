import Foundation

/// A text as the usual encodings have it, made by their own tools.
enum EncodedBytes {
    static let plain = String(repeating: "hello, encoded world. ", count: 20)

    static let gzip = base64("H4sIAAAAAAACA8tIzcnJ11FIzUvOT0lNUSjPL8pJ0VPIGBUd5KIAg87UpbgBAAA=")
    static let deflate = base64("eJzLSM3JyddRSM1Lzk9JTVEozy/KSdFTyBgVHeSiAFYym6E=")
    static let brotli = base64("G7cBwIyUbt5ECVKGlmwubzlIK5SV5tVxuwbmigE=")
    static let zstandard = base64("KLUv/QRY7QAAsGhlbGxvLCBlbmNvZGVkIHdvcmxkLiABAD5TnU2bqhTX")

    static func of(_ encoding: String) -> [UInt8] {
        switch encoding {
        case "gzip": gzip
        case "deflate": deflate
        case "br": brotli
        case "zstd": zstandard
        default: Array(plain.utf8)
        }
    }

    private static func base64(_ text: String) -> [UInt8] { Data(base64Encoded: text).map(Array.init) ?? [] }

    /// Gzip of zero bytes without end: a head, a block of fixed codes (RFC 1951 §3.2.6) that begins with the literal 0, and
    /// from then on "258 times the byte before", which takes 13 bits, so that the pattern repeats after 13 bytes.
    static func endlessZeros() -> AsyncStream<[UInt8]> {
        let isFirst = FirstTime()
        var bits: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
        let copy: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0]
        for _ in 0..<16 { bits += copy }
        let head: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
        let first = head + bytes(bits[..<(13 * 8)])
        let repeated = bytes(bits[(13 * 8)..<(26 * 8)])
        let chunk = Array(repeatElement(repeated, count: 1_000).joined())
        return AsyncStream { isFirst.take() ? first : chunk }
    }

    /// Bits in the order of the stream, the first in the lowest place.
    private static func bytes(_ bits: ArraySlice<UInt8>) -> [UInt8] {
        stride(from: bits.startIndex, to: bits.endIndex, by: 8).map { start in
            (0..<8).reduce(0) { $0 | bits[start + $1] << UInt8($1) }
        }
    }
}
