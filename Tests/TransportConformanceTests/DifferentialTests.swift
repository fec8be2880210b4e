#if os(Linux)
    import Interception
    import MidstreamCore
    import TestSupport
    import Testing

    /// Random responses, told apart by libcurl and by the wire.
    @Suite(.leavesNothing, .timeLimit(.minutes(60))) struct DifferentialTests {
        /// All searched inputs.
        private static let wholeSearch = 1_000_000
        private static let telling = Array("\r\n\0 \t,;:=0123456789aHT/.-".utf8)
        private static let seeds = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;a=b\r\nabc\r\n0\r\nX-T: 1\r\n\r\n",
            "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall of it",
            "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n b\r\n\r\n", "HTTP/1.0 404\r\n\r\nno",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\nTransfer-Encoding: identity\r\n\r\nhi",
            "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc",
        ].map { Array($0.utf8) }

        enum Outcome: Equatable {
            case answered(Int, [String], [UInt8])
            /// By the error's message.
            case failed(String)
        }

        /// How often the wire has refused something for one reason.
        private struct Refusals {
            var count = 0
            /// How often libcurl, which is the less strict one, has taken it.
            var taken = 0
            var example: [UInt8] = []
        }

        @Test func `What the wire takes libcurl reads in the same way, and it refuses for reasons of the table`() async throws {
            let script = Locked<[UInt8]>([])
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write(script.withLock { $0 })
            }
            let (curl, wire) = (curlTransport(), wireTransport())
            var random = Search.numbers(1)
            var refusals: [String: Refusals] = [:]
            for _ in 0..<Search.count(of: Self.wholeSearch) {
                let bytes = Self.response(&random)
                script.withLock { $0 = bytes }
                let byWire = await outcome(of: server.url, over: wire)
                let byCurl = await outcome(of: server.url, over: curl)
                if case .failed(let reason) = byWire {
                    refusals[reason, default: Refusals(example: bytes)].count += 1
                    if case .answered = byCurl { refusals[reason]?.taken += 1 }
                    continue
                }
                if case .failed = byCurl, Self.isReadByDiscretion(bytes) { continue }
                // Of a folded field libcurl itself looks at the first line alone.
                if byWire != byCurl, Self.foldsFraming(bytes) { continue }
                #expect(byWire == byCurl, "\(Self.readable(bytes))")
            }
            let documented = try WireDecisions.documented()
            for (reason, refused) in refusals.sorted(by: { $0.value.count > $1.value.count }) {
                print("refused by the wire: \(refused.count), of which libcurl took \(refused.taken): \(reason)")
                let isDocumented = WireDecisions.rows[reason].map { documented.contains($0) } ?? false
                #expect(isDocumented, "\(reason) \(Self.readable(refused.example))")
            }
        }

        private static func readable(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }

        @Test func `Each reason for which the wire refuses a response is a row of the table`() throws {
            let documented = try WireDecisions.documented()
            for row in Set(WireDecisions.rows.values) { #expect(documented.contains(row)) }
        }

        /// Whether there is something that a recipient may read or refuse: a bare carriage return (RFC 9112 §2.2), a folded line (§5.2), a
        /// later version (RFC 9110 §2.5).
        private static func isReadByDiscretion(_ bytes: [UInt8]) -> Bool {
            let pairs = zip(bytes, bytes.dropFirst())
            return pairs.contains { $0 == 13 && $1 != 10 || $0 == 10 && ($1 == 32 || $1 == 9) }
                || String(decoding: bytes, as: UTF8.self).contains(/HTTP\/1\.[2-9]/)
        }

        private static func foldsFraming(_ bytes: [UInt8]) -> Bool {
            let text = String(decoding: bytes.filter { $0 != 13 }, as: UTF8.self)
            return text.contains(/(?i:transfer-encoding|content-length)[^\n]*\n[ \t]/)
        }

        private func outcome(of url: String, over transport: any HTTPTransport) async -> Outcome {
            do {
                let response = try await transport.send(HTTPRequest("\(raw: url)"))
                let body = try await response.body.collect()
                // How much space a folded line leaves is nobody's business.
                let fields = response.headers.map { "\($0.name):\($0.value)".split(separator: " ").joined(separator: " ") }
                return .answered(response.status.code, fields.map { $0.replacing(": ", with: ":") }, body)
            } catch let error as HTTPError {
                return .failed(error.message)
            } catch {
                return .failed("\(error)")
            }
        }

        private static func response(_ random: inout SeededGenerator) -> [UInt8] {
            var bytes = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                let end = Int.random(in: place...min(bytes.count, place + 6), using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.replaceSubrange(place..<end, with: [])
                case 1: bytes.replaceSubrange(place..<end, with: telling.randomElement(using: &random).map { [$0] } ?? [])
                case 2: bytes.insert(telling.randomElement(using: &random) ?? 0, at: place)
                default: bytes.insert(contentsOf: bytes[place..<end], at: place)
                }
            }
            return bytes
        }
    }
#endif
