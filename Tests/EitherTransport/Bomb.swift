#if os(Linux)
    import Foundation
    import MidstreamLoop
    import TestSupport
    import Testing

    /// Zeros, encoded so that they are small on the wire and huge decoded.
    struct Bomb: Sendable, CustomTestStringConvertible {
        /// The `Content-Encoding`.
        let coding: String
        private let start: [UInt8]
        /// What follows for as long as anybody takes it; empty: nothing, the start is all of it.
        private let part: [UInt8]

        var testDescription: String { coding }

        static let all = [gzip, brotli, zstandard, gzipTwice]

        /// Becomes 158 times as large.
        static let gzip = {
            var bits = fixedCodes + literals([0])
            for _ in 0..<16 { bits += match(0) }
            return Bomb(coding: "gzip", start: gzipHead + packed(bits[..<(13 * 8)]), part: packed(bits[(13 * 8)..<(26 * 8)]))
        }()

        /// The above, whose repeated 13 bytes are encoded once more: 21,000 times.
        static let gzipTwice = {
            // 13 is the first of four distances.
            let repetition = match(7) + [0, 0]
            var bits = fixedCodes + literals(gzip.start + gzip.part)
            // Up to where a byte begins.
            while bits.count % 8 != 0 { bits += repetition }
            let part = packed(Array(repeatElement(repetition, count: 8).joined())[...])
            return Bomb(coding: "gzip, gzip", start: gzipHead + packed(bits[...]), part: part)
        }()

        /// 64 MiB, of 102 bytes.
        static let brotli = Bomb(
            coding: "br",
            start: Array(
                Data(
                    base64Encoded:
                        "y///PwAkAOKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+j///fwBIAMRhAeje"
                        + "//H//w8ACYA4LADd+z/+//8BIAEQhwWge/83")!),
            part: [])

        /// One zero, and that it is there 128 Ki times (RFC 8878 §3.1.1.2), within a window of as much: 32,768 times.
        static let zstandard = Bomb(coding: "zstd", start: [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38], part: [2, 0, 16, 0])

        /// Sends it to whoever asks for `/bomb`, and "ok" to all others.
        func server() throws -> RawServer {
            try RawServer { connection in
                while let head = connection.readHead(), !head.hasPrefix("GET /bomb") {
                    connection.write(RawServer.okResponse)
                }
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nConnection: close\r\n\r\n")
                connection.write(start)
                guard !part.isEmpty else { return }
                let chunk = Array(repeatElement(part, count: 13_000 / part.count).joined())
                while connection.write(chunk) {}
            }
        }

        func firstBytes(_ count: Int) -> [UInt8] {
            Array((start + repeatElement(part, count: count / part.count).joined()).prefix(count))
        }

        // MARK: gzip (RFC 1952) and deflate with fixed codes (RFC 1951 §3.2.6)

        private static let gzipHead: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
        /// The last block begins.
        private static let fixedCodes: [UInt8] = [1, 1, 0]

        private static func literals(_ bytes: [UInt8]) -> [UInt8] {
            bytes.flatMap { $0 < 144 ? code(0b0011_0000 + Int($0), 8) : code(0b1_1001_0000 + Int($0) - 144, 9) }
        }

        /// 258 times what is so far back.
        private static func match(_ distance: Int) -> [UInt8] { code(0b1100_0101, 8) + code(distance, 5) }

        private static func code(_ code: Int, _ count: Int) -> [UInt8] { (1...count).map { UInt8(code >> (count - $0) & 1) } }

        private static func packed(_ bits: ArraySlice<UInt8>) -> [UInt8] {
            stride(from: bits.startIndex, to: bits.endIndex, by: 8).map { start in
                (0..<8).reduce(0) { $0 | bits[start + $1] << UInt8($1) }
            }
        }
    }
#endif
