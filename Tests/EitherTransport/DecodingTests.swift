#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// What is done about the encodings of bodies, and about those that are made to do harm.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct DecodingTests {
        private static let plain = Array(String(repeating: "hello, encoded world. ", count: 20).utf8)
        private static let gzip = bytes("H4sIAAAAAAACA8tIzcnJ11FIzUvOT0lNUSjPL8pJ0VPIGBUd5KIAg87UpbgBAAA=")
        private static let encoded: [String: [UInt8]] = [
            "gzip": gzip,
            "deflate": bytes("eJzLSM3JyddRSM1Lzk9JTVEozy/KSdFTyBgVHeSiAFYym6E="),
            "br": bytes("G7cBwIyUbt5ECVKGlmwubzlIK5SV5tVxuwbmigE="),
            "zstd": bytes("KLUv/QRY7QAAsGhlbGxvLCBlbmNvZGVkIHdvcmxkLiABAD5TnU2bqhTX"),
        ]

        private static func bytes(_ base64: String) -> [UInt8] { Array(Data(base64Encoded: base64)!) }

        /// A way in which a server tells where a body ends.
        enum Framing: String, CaseIterable, Sendable { case length, chunks, close }

        private func server(_ coding: String, _ body: [UInt8], _ framing: Framing = .length, status: String = "200 OK") throws
            -> RawServer
        {
            try RawServer { connection in
                while let head = connection.readHead() {
                    let asked = head.components(separatedBy: "\r\n").first { $0.hasPrefix("Accept-Encoding: ") } ?? ": none"
                    let offer = asked.drop { $0 != ":" }
                    connection.write("HTTP/1.1 \(status)\r\nContent-Encoding: \(coding)\r\nX-Asked\(offer)\r\n")
                    switch framing {
                    case .length: connection.write(Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body)
                    case .chunks:
                        connection.write("Transfer-Encoding: chunked\r\n\r\n")
                        for byte in body { connection.write(Array("1\r\n".utf8) + [byte] + [13, 10]) }
                        connection.write("0\r\n\r\n")
                    case .close:
                        connection.write(Array("Connection: close\r\n\r\n".utf8) + body)
                        return
                    }
                }
            }
        }

        @Test(arguments: ["gzip", "deflate", "br", "zstd"], Framing.allCases)
        func `A body that is cut is an error`(_ coding: String, _ framing: Framing) async throws {
            let whole = try #require(Self.encoded[coding])
            let transport = testedTransport()
            for delivery in deliveries {
                let server = try server(coding, whole, framing)
                let response = try await transport.deliver(request(server.url, delivery))
                #expect(try await response.body.collect() == Self.plain)
                for count in [1, 2, 4, 8, 12, whole.count - 1] {
                    let server = try self.server(coding, Array(whole.dropLast(count)), framing)
                    let error = await #expect(throws: HTTPError.self, "\(count) \(delivery)") {
                        _ = try await transport.deliver(request(server.url, delivery)).body.collect()
                    }
                    #expect(error?.code == .decoding, "\(error as Any)")
                    #expect(error?.phase == .answered)
                }
            }
        }

        /// RFC 9110 §8.4.1.2 warns of servers that send it so.
        @Test(arguments: deliveries, Framing.allCases)
        func `Deflate may come without zlib's head, and whole`(_ delivery: BodyDelivery, _ framing: Framing) async throws {
            let raw = Array(try #require(Self.encoded["deflate"]).dropFirst(2).dropLast(4))
            let transport = testedTransport()
            let server = try server("deflate", raw, framing)
            let response = try await transport.deliver(request(server.url, delivery))
            #expect(try await response.body.collect() == Self.plain)
            for wrong in [raw.dropLast(), raw.dropLast(8), raw.prefix(1), (raw + [0])[...]] {
                let server = try self.server("deflate", Array(wrong), framing)
                let error = await httpError { try await transport.deliver(request(server.url, delivery)).body.collect() }
                #expect(error?.code == .decoding, "\(wrong.count)")
            }
        }

        @Test(arguments: deliveries) func `What follows the end is an error, but for further members`(_ delivery: BodyDelivery)
            async throws
        {
            let transport = testedTransport()
            for (coding, whole) in Self.encoded {
                let server = try server(coding, whole + [1, 2, 3])
                let error = await httpError { try await transport.deliver(request(server.url, delivery)).body.collect() }
                #expect(error?.code == .decoding)
            }
            for coding in ["gzip", "zstd"] {
                let whole = try #require(Self.encoded[coding])
                for framing in Framing.allCases {
                    let server = try server(coding, whole + whole, framing)
                    let response = try await transport.deliver(request(server.url, delivery))
                    #expect(try await response.body.collect() == Self.plain + Self.plain)
                }
            }
        }

        @Test(arguments: deliveries, Framing.allCases)
        func `Zeros behind gzip are padding`(_ delivery: BodyDelivery, _ framing: Framing) async throws {
            let transport = testedTransport()
            let zeros = [UInt8](repeating: 0, count: 300)
            for (tail, expected) in [(zeros, Self.plain), (zeros + Self.gzip, Self.plain + Self.plain)] {
                let server = try server("gzip", Self.gzip + tail, framing)
                let response = try await transport.deliver(request(server.url, delivery))
                #expect(try await response.body.collect() == expected)
            }
            let other = try server("gzip", Self.gzip + zeros + [1], framing)
            let error = await httpError { try await transport.deliver(request(other.url, delivery)).body.collect() }
            #expect(error?.code == .decoding)
        }

        /// RFC 1952 within RFC 1952, stored blocks without compression.
        private static func stored(_ bytes: [UInt8]) -> [UInt8] {
            var made: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]
            for number in [UInt16(bytes.count), ~UInt16(bytes.count)] { made += [UInt8(number & 255), UInt8(number >> 8)] }
            made += bytes
            var crc = ~UInt32(0)
            for byte in bytes {
                crc ^= UInt32(byte)
                for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
            }
            for number in [~crc, UInt32(bytes.count)] { made += (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
            return made
        }

        @Test(arguments: deliveries) func `Two codings are undone, and no third`(_ delivery: BodyDelivery) async throws {
            let transport = testedTransport()
            for (coding, whole) in Self.encoded {
                for framing in Framing.allCases {
                    let twice = try server("\(coding), gzip", Self.stored(whole), framing)
                    let response = try await transport.deliver(request(twice.url, delivery))
                    #expect(try await response.body.collect() == Self.plain)
                    let cut = try server("\(coding), gzip", Self.stored(Array(whole.dropLast())), framing)
                    let error = await httpError { try await transport.deliver(request(cut.url, delivery)).body.collect() }
                    #expect(error?.code == .decoding)
                }
            }
            let thrice = try server("gzip, gzip, gzip", Self.stored(Self.stored(Self.gzip)))
            let error = await httpError { try await transport.deliver(request(thrice.url, delivery)).body.collect() }
            #expect(error?.code == .decoding)
        }

        @Test("what has an encoding that nobody knows is left as it came, with its fields", arguments: deliveries)
        func unknown(_ delivery: BodyDelivery) async throws {
            for name in ["x-odd", "utf-8", "gzip, x-odd"] {
                let server = try server(name, Self.gzip)
                let response = try await testedTransport().deliver(request(server.url, delivery))
                #expect(response.headers["Content-Encoding"] == name)
                #expect(try await response.body.collect() == Self.gzip)
            }
        }

        @Test(arguments: deliveries) func `A range isn't asked for in an encoding, and not decoded`(_ delivery: BodyDelivery)
            async throws
        {
            let part = Array(Self.gzip.prefix(20))
            let transport = testedTransport()
            for (headers, asked) in [(["Range": "bytes=0-19"], "none"), ([:], "gzip, br")] as [(HTTPHeaders, String)] {
                let server = try server("gzip", part, status: "206 Partial Content")
                var sent = request(server.url, delivery)
                sent.headers = headers
                let response = try await transport.deliver(sent)
                #expect(response.headers["X-Asked"] == asked)
                #expect(response.headers[.contentEncoding] == "gzip")
                #expect(response.headers[.contentLength] == "20")
                #expect(try await response.body.collect() == part)
            }
        }

        @Test(arguments: deliveries) func `What a check of the encoded bytes refuses at their end was measured`(
            _ delivery: BodyDelivery
        ) async throws {
            let server = try server("gzip", Self.gzip)
            var checked = request(server.url, delivery)
            checked.encodedBodyCheck = EncodedBodyCheck { _ in
                BodyCheck(onChunk: { _ in }, atEnd: { _ in throw HTTPError(.digestMismatch) })
            }
            let sent = checked
            let error = await httpError { try await testedTransport().deliver(sent).body.collect() }
            #expect(error?.code == .digestMismatch && error?.metrics?.firstByte != nil)
        }

        /// An empty member of gzip has twenty bytes, and takes its time.
        @Test func `What goes into a decoder counts as work, and each step does`() throws {
            let members = Array(repeatElement(Self.bytes("H4sIAAAAAAAAAwMAAAAAAAAAAAA="), count: 1_000).joined())
            for codings: [ContentCoding] in [[.gzip], [.gzip, .gzip]] {
                let decoder = try BodyDecoding(codings, ratio: nil)
                var work = 0
                try members.withUnsafeBytes { bytes in
                    var input = bytes
                    while !input.isEmpty { work += try run(decoder, &input).work }
                }
                #expect(work >= members.count + 256_000)
            }
        }

        private func run(
            _ decoder: BodyDecoding, _ input: inout UnsafeRawBufferPointer
        ) throws(DecodingFault) -> (count: Int, work: Int) {
            let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
            defer { space.deallocate() }
            return try decoder.decode(&input, into: space)
        }

        /// A megabyte of records, without an end: what a server has flushed that waits for the next of them.
        private static let flushed = bytes("qx+hB0BABoee0AA7vwdZZJIDNWV5J0aWnrKFbXfOA2oeWT17Ihg=")

        @Test func `All that has been flushed is decoded without more coming in`() throws {
            let decoder = try BodyDecoding([.brotli], ratio: nil)
            var total = 0
            try Self.flushed.withUnsafeBytes { bytes in
                var input = bytes
                repeat { total += try run(decoder, &input).count } while !input.isEmpty || !decoder.isHungry
            }
            #expect(total == 1_000_000)
        }

        @Test func `All that has been flushed is read while the server waits`() async throws {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nTransfer-Encoding: chunked\r\n\r\n")
                connection.write(Array("\(String(Self.flushed.count, radix: 16))\r\n".utf8) + Self.flushed + [13, 10])
                connection.waitForEnd()
            }
            let response = try await testedTransport().deliver(HTTPRequest(server.url))
            var received = 0
            for try await chunk in response.body {
                received += chunk.count
                if received >= 1_000_000 { break }
            }
            #expect(received == 1_000_000)
        }

        @Test func `A body may begin with what grows much, up to a size and the ratio of the whole`() throws {
            func decoded(_ bomb: Bomb, length: Int64?) -> Int {
                let bytes = bomb.firstBytes(200_000)
                var total = 0
                guard let decoder = try? BodyDecoding([.gzip], ratio: 100, length: length) else { return 0 }
                bytes.withUnsafeBytes { bytes in
                    var input = bytes
                    while !input.isEmpty, let step = try? run(decoder, &input) { total += step.count }
                }
                return total >> 20
            }
            #expect(decoded(.gzip, length: nil) == 16)
            #expect(decoded(.gzip, length: 210_000) == 20)
            #expect(decoded(.gzip, length: 300_000) > 25)
        }

        @Test func `Zstandard is offered on request, with a small window`() async throws {
            var configuration = TransportConfiguration()
            configuration.offersZstandard = true
            let transport = testedTransport(configuration: configuration)
            let server = try server("zstd", Self.encoded["zstd"]!)
            let response = try await transport.deliver(request(server.url, .buffered(upTo: 1_000)))
            #expect(response.headers["X-Asked"] == "gzip, br, zstd")
            #expect(response.body.bytes == Self.plain)
            // A frame of a window of 16 MiB (RFC 8878 §3.1.1.1.2) with one block of zeros.
            let large: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 0x03 | 0x80, 0x00, 0x00, 0x00]
            let other = try self.server("zstd", large)
            let error = await httpError { try await transport.deliver(request(other.url, .buffered(upTo: 1_000))) }
            #expect(error?.code == .decoding)
        }
    }
#endif
