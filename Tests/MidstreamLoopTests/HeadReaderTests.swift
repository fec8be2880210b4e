#if os(Linux)
    import MidstreamCore
    import Testing

    @testable import MidstreamLoop

    /// Where its limits are; `ResponseReaderTests` have that of a head's size.
    @Suite struct HeadReaderTests {
        /// How many fields the last of several heads has.
        private func read(_ heads: (status: Int, fields: Int)...) -> Result<Int, HeadReader.Fault> {
            var reader = HeadReader()
            var count = 0
            for head in heads {
                let text = "HTTP/1.1 \(head.status) -\r\n" + String(repeating: "X: y\r\n", count: head.fields) + "\r\n"
                switch Array(text.utf8).withUnsafeBytes({ reader.read($0, status: head.status) }) {
                case .complete(let fields), .interim(let fields): count = fields.count
                case .refused(let fault): return .failure(fault)
                }
            }
            return .success(count)
        }

        @Test func `A head may have 1,000 fields`() {
            for count in [0, 999, 1_000] { #expect(read((200, count)) == .success(count)) }
            #expect(read((200, 1_001)) == .failure(.tooManyFields))
        }

        /// Each of those counts for one more.
        @Test func `The fields of interim heads count among them`() {
            #expect(read((103, 499), (200, 500)) == .success(500))
            #expect(read((103, 499), (200, 501)) == .failure(.tooManyFields))
            #expect(read((103, 999)) == .success(999))
            #expect(read((103, 1_000)) == .failure(.tooManyFields))
        }

        /// draft-ietf-httpbis-resumable-upload has them sent regularly.
        @Test func `Reports of how far an upload is don't count, nor do their fields`() {
            var reader = HeadReader()
            let report = Array("HTTP/1.1 104 -\r\nUpload-Offset: 4096\r\n\r\n".utf8)
            for _ in 0..<2_000 {
                guard case .interim = report.withUnsafeBytes({ reader.read($0, status: 104) }) else {
                    Issue.record("A report is refused.")
                    return
                }
            }
            let head = Array("HTTP/1.1 200 -\r\n\(String(repeating: "X: y\r\n", count: 1_000))\r\n".utf8)
            guard case .complete = head.withUnsafeBytes({ reader.read($0, status: 200) }) else {
                Issue.record("The final head is refused.")
                return
            }
            #expect(read((104, 1_001)) == .failure(.tooManyFields))
        }

        /// What is wrong with lines of trailers, after a head.
        private func faults(_ trailers: [String], head fields: Int = 1) -> [HeadReader.Fault] {
            var reader = HeadReader()
            let head = "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: fields) + "\r\n"
            _ = Array(head.utf8).withUnsafeBytes { reader.read($0, status: 200) }
            return trailers.compactMap { line in Array(line.utf8).withUnsafeBytes { reader.read(trailer: $0) } }
        }

        @Test func `There may be 1,000 trailers, whatever the head has had`() {
            let line = "X: y\r\n"
            #expect(faults(Array(repeating: line, count: 1_000) + ["\r\n"], head: 1_000) == [])
            #expect(faults(Array(repeating: line, count: 1_001)) == [.tooManyFields])
        }

        @Test(arguments: [(-1, []), (0, []), (1, [.tooLarge])] as [(Int, [HeadReader.Fault])])
        func `Trailers may have 256 KiB together`(_ beyond: Int, _ expected: [HeadReader.Fault]) {
            let trailers = [0, beyond].map { beyond in
                "X: \(String(repeating: "y", count: HeadReader.sizeLimit / 2 - "X: \r\n".utf8.count + beyond))\r\n"
            }
            #expect(faults(trailers) == expected)
        }
    }
#endif
