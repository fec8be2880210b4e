#if os(Linux)
    import MidstreamCore
    import Testing

    @testable import MidstreamLoop

    /// The one pass over a head gives what reading it line by line gives.
    @Suite struct ReceivedFieldsTests {
        private static let pieces: [[UInt8]] = [
            "a", "B-c", ":", ": ", " ", "\t", "\r", "\0", "\u{7F}", "ä", "Content-Length", "content-encoding",
            "Transfer-Encoding", "12",
            "chunked", "\r\n", "\n", "x: y\r\n", " folded\r\n", "Content-Length: 5\r\n",
        ].map { Array($0.utf8) }

        /// Reads line by line; nil when there is one that isn't a field.
        private func reference(_ lines: [[UInt8]]) -> HTTPHeaders? {
            var buffer = HTTPHeaders.FieldBuffer()
            for line in lines {
                if line[0] == 32 || line[0] == 9 {
                    guard !buffer.isEmpty else { return nil }
                } else {
                    guard let colon = line.firstIndex(of: 58), colon > 0, line[..<colon].allSatisfy({ $0 > 32 && $0 != 127 })
                    else {
                        return nil
                    }
                }
                line.withUnsafeBytes { buffer.append(line: $0) }
            }
            return HTTPHeaders(buffer)
        }

        /// The lines up to the first that ends the head, each with its line feed.
        private func lines(_ bytes: [UInt8]) -> [[UInt8]] {
            bytes.split(separator: 10, omittingEmptySubsequences: false).dropLast().map { Array($0) + [10] }
                .prefix { $0[0] != 13 && $0[0] != 10 }.map { $0 }
        }

        @Test func `Random heads are read alike`() throws {
            var random: UInt64 = 20_260_101
            func next(_ count: Int) -> Int {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(random >> 33) % count
            }
            var accepted = 0
            for _ in 0..<20_000 {
                var bytes: [UInt8] = []
                for _ in 0..<next(12) { bytes += Self.pieces[next(Self.pieces.count)] }
                bytes.append(10)
                let lines = lines(bytes)
                let expected = reference(lines)
                let fields = bytes.withUnsafeBytes { bytes in try? ReceivedFields(bytes, limit: 1_000) }
                #expect(
                    fields.map { HTTPHeaders(lines: $0.bytes).bytes } == expected?.bytes,
                    "\(String(decoding: bytes, as: UTF8.self))")
                guard let fields, let expected else { continue }
                accepted += 1
                #expect(fields.count == lines.count)
                for (framing, name) in [
                    (fields.contentLength, HTTPHeaders.Name.contentLength), (fields.contentEncoding, .contentEncoding),
                    (fields.transferEncoding, .transferEncoding),
                ] {
                    switch framing {
                    case .absent: #expect(!expected.contains(name))
                    case .once(let place):
                        #expect(expected.values(name) == [String(decoding: fields.bytes[place], as: UTF8.self)])
                    case .odd: #expect(expected.contains(name))
                    }
                }
            }
            #expect(accepted > 1_000)
        }

        @Test(
            arguments: [
                ("0", 0), ("12", 12), ("999999999999999999", 999_999_999_999_999_999), ("", nil), ("+1", nil), ("1 ", nil),
                ("1a", nil),
                ("1000000000000000000", nil),
            ] as [(String, Int64?)])
        func `A number is digits and nothing else`(_ text: String, _ number: Int64?) throws {
            let head = Array("A:\(text)x\n".utf8)
            let fields = try head.withUnsafeBytes { head throws in try ReceivedFields(head, limit: 1) }
            #expect(fields.number(at: 2..<(2 + text.utf8.count)) == number)
        }

        @Test func `There may be so many lines and no more`() throws {
            let head = Array("a: b\n c\nd: e\n\n".utf8)
            let fields = try head.withUnsafeBytes { head throws in try ReceivedFields(head, limit: 3) }
            #expect(fields.count == 3)
            #expect(throws: HeadReader.Fault.tooManyFields) {
                _ = try head.withUnsafeBytes { head throws in try ReceivedFields(head, limit: 2) }
            }
        }
    }
#endif
