#if os(Linux)
    import MidstreamLoop
    import Testing

    @testable import MidstreamWire

    /// Where the limits of the reader are; `ForeignTextTests` has everything else.
    @Suite struct ResponseReaderTests {
        /// What is found in a response with a chunked body.
        private func parts(_ body: String, head: String = "HTTP/1.1 200 OK\r\n\r\n") -> [String] {
            var reader = ResponseReader()
            var parts: [String] = []
            let bytes = Array((head + body).utf8)
            bytes.withUnsafeBytes { bytes in
                var input = bytes
                while true {
                    switch reader.next(&input) {
                    case .none: return parts.append("more")
                    case .head(_, let status):
                        parts.append("\(status)")
                        reader.begin(.chunked)
                    case .body(let count):
                        parts.append(String(decoding: input.prefix(count), as: UTF8.self))
                        reader.take(count)
                        input = UnsafeRawBufferPointer(rebasing: input[count...])
                    case .trailer: parts.append("trailer")
                    case .end: return parts.append("end")
                    case .violation: return parts.append("violation")
                    }
                }
            }
            return parts
        }

        @Test(arguments: [(4_094, true), (4_095, true), (4_096, false)])
        func `A chunk's extension may have 4 KiB`(length: Int, isTaken: Bool) {
            let parts = parts("1;\(String(repeating: "x", count: length))\r\na\r\n0\r\n\r\n")
            #expect(parts == (isTaken ? ["200", "a", "end"] : ["200", "violation"]))
        }

        @Test(arguments: [(15, true), (16, true), (17, false)])
        func `A chunk's size may have 16 digits`(digits: Int, isTaken: Bool) {
            let parts = parts("\(String(repeating: "0", count: digits - 1))1\r\na\r\n0\r\n\r\n")
            #expect(parts == (isTaken ? ["200", "a", "end"] : ["200", "violation"]))
        }

        @Test func `Nor may a trailer hold a bare carriage return or a zero byte`() {
            #expect(parts("0\r\nX: ab\r\n\r\n") == ["200", "trailer", "end"])
            for byte in ["\r", "\0"] { #expect(parts("0\r\nX: a\(byte)b\r\n\r\n") == ["200", "violation"]) }
        }

        @Test func `A line of a chunk's size without an end is refused`() {
            #expect(parts("1;\(String(repeating: "x", count: 4_200))") == ["200", "violation"])
            #expect(parts("1;\(String(repeating: "x", count: 100))") == ["200", "more"])
        }

        @Test(arguments: [(-1, true), (0, true), (1, false)])
        func `A head may have 256 KiB`(beyond: Int, isTaken: Bool) {
            let frame = "HTTP/1.1 200 OK\r\nX: \r\n\r\n".utf8.count
            let value = String(repeating: "x", count: HeadReader.sizeLimit + beyond - frame)
            let parts = parts("0\r\n\r\n", head: "HTTP/1.1 200 OK\r\nX: \(value)\r\n\r\n")
            #expect(parts == (isTaken ? ["200", "end"] : ["violation"]))
        }

        @Test func `A head without an end is refused at its limit`() {
            let value = String(repeating: "x", count: HeadReader.sizeLimit)
            #expect(parts("", head: "HTTP/1.1 200 OK\r\nX: \(value)") == ["violation"])
        }
    }
#endif
