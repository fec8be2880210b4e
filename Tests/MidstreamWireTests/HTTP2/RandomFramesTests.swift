#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    /// Random frames of HTTP/2 in place of an answer, most of them nearly right.
    @Suite(.leavesNothing, .timeLimit(.minutes(60))) struct RandomFramesTests {
        private typealias Frame = HTTP2Frame

        private static let wholeSearch = 1_000_000
        /// What an earlier search has found.
        private static let found: [[UInt8]] = [
            // A session that was ended within a callback read on, and aborted the process for the length of the last frame.
            Frame.windowUpdate(1 << 16, stream: 1) + Frame.goAway(last: 0, 3)
                + [
                    0, 0, 13, 1, 4, 0, 0, 0, 1, 0, 7, 58, 115, 116, 97, 116, 117, 115, 3, 50, 48, 48, 0, 0, 2, 0, 1, 0, 0, 0, 1,
                    111, 107,
                ]
                + [0, 0, 1, 4, 0, 0, 0, 1, 0, 7, 58, 115, 116, 97, 116, 117, 92, 115, 3, 49, 48, 51]
        ]

        @Test func `Whatever comes, each request ends, and others are answered`() async throws {
            let script = Locked<[UInt8]>([])
            let server = try RawServer.http2 { peer in
                guard peer.begin(), peer.nextRequest() != nil else { return }
                peer.write(script.withLock { $0 })
                peer.connection.endSending()
                peer.connection.waitForEnd()
            }
            let good = try HTTP2Server()
            let transport = HTTP2Wire(tls: nil).transport()
            var random = Search.numbers(2)
            var answered = 0
            for number in 0..<Search.count(of: Self.wholeSearch) {
                let frames = number < Self.found.count ? Self.found[number] : Self.frames(&random)
                script.withLock { $0 = frames }
                do {
                    let delivery: BodyDelivery = number.isMultiple(of: 2) ? .streamed : .buffered(upTo: 1 << 20)
                    let response = try await transport.deliver(request(server.url, delivery))
                    _ = try await response.body.collect()
                    answered += 1
                } catch {
                    #expect(error is HTTPError, "\(frames)")
                }
                guard number.isMultiple(of: 100) else { continue }
                let response = try await transport.deliver(request(good.url, .buffered(upTo: 10)))
                #expect(response.body.bytes == Array(HTTP2Server.later.utf8))
            }
            #expect(answered > 0)
        }

        private static func frames(_ random: inout SeededGenerator) -> [UInt8] {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) { bytes += frame(&random) }
            for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                }
            }
            return bytes
        }

        private static func frame(_ random: inout SeededGenerator) -> [UInt8] {
            let stream: UInt32 = [1, 1, 1, 1, 0, 2, 3].randomElement(using: &random) ?? 1
            let number = [0, 1, 100, 1 << 16, 0x7fff_ffff].randomElement(using: &random).map { UInt32($0) } ?? 0
            let ends = Bool.random(using: &random)
            return switch Int.random(in: 0..<12, using: &random) {
            case 0, 1: Frame.response(stream: stream)
            case 2: Frame.headers([.ok, HPACKField("content-length", "5")], stream: stream)
            case 3: Frame.headers([HPACKField(":status", ends ? "103" : "500")], stream: stream)
            case 4: Frame.headers([HPACKField("x-trailer", "1")], Frame.endHeaders | Frame.endStream, stream: stream)
            case 5: Frame.headers([.ok], ends ? Frame.endStream : 0, stream: stream)
            case 6: Frame.make(.continuation, ends ? Frame.endHeaders : 0, stream: stream, [HPACKField("x-a", "b")].encoded)
            case 7: Frame.data("hello", end: ends, stream: stream)
            case 8: Frame.reset(number & 15, stream: stream)
            case 9: Frame.goAway(last: stream, number & 15)
            case 10: Frame.windowUpdate(number, stream: stream)
            default: Frame.settings((UInt16(number & 7), number))
            }
        }
    }
#endif
