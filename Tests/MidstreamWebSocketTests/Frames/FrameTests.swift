import TestSupport
import Testing

@testable import WebSocketFrames

@Suite(.leavesNothing) struct FrameTests {
    @Test(arguments: FrameCase.all)
    func `Frames are read as they should be, however they are cut`(_ test: FrameCase) {
        var ways = [[test.bytes], test.bytes.map { [$0] }]
        if test.bytes.count < 400 {
            for place in 1..<max(2, test.bytes.count) { ways.append([Array(test.bytes[..<place]), Array(test.bytes[place...])]) }
        } else if test.bytes.count > 100_000 {
            ways[1] = stride(from: 0, to: test.bytes.count, by: 997).map {
                Array(test.bytes[$0..<min($0 + 997, test.bytes.count)])
            }
        }
        for pieces in ways {
            let (events, violation) = test.played(pieces)
            #expect(events == test.events && violation == test.violation, "in \(pieces.count) pieces")
        }
    }

    @Test func `A message takes hardly more room than its frame says, and none that hasn't come`() throws {
        let (length, piece) = (1_100_000, 50_000)
        let bytes = FrameWriter.frame(.binary, [UInt8](repeating: 7, count: length))
        var reader = MessageReader(role: .client, messageLimit: 1 << 24)
        var room = 0
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try reader.take(Array(bytes[start..<min(start + piece, bytes.count)])) { event in
                if case .binary(let message) = event { room = message.capacity }
            }
            if start < length / 8 { #expect(reader.room <= 8 * (start + piece)) }
        }
        #expect(room >= length && room < length * 5 / 4)
    }

    @Test(arguments: [FrameRole.client, .server]) func `A long message in fragments takes hardly more room than has come`(
        _ role: FrameRole
    ) throws {
        let mask: UInt32? = role == .server ? .random(in: 0 ... .max) : nil
        let text = String(repeating: "Grüße, 世界. ", count: 350_000)
        let payload = Array(text.utf8)
        for opcode in [Opcode.text, .binary] {
            var reader = MessageReader(role: role, messageLimit: 1 << 24)
            var events: [MessageReader.Event] = []
            for start in stride(from: 0, to: payload.count, by: 100_000) {
                let end = min(start + 100_000, payload.count)
                let frame = FrameWriter.frame(
                    start == 0 ? opcode : .continuation, payload, start..<end, isFinal: end == payload.count, mask: mask)
                try reader.take(frame) { events.append($0) }
                let room = reader.room
                #expect(room <= end + 500_000)
            }
            #expect(events == [opcode == .text ? .text(text) : .binary(payload)])
            let room = reader.room
            #expect(room == 0)
        }
    }

    @Test func `No two masks are alike, of one socket or of two`() {
        var (first, second) = (Masks(), Masks())
        let masks = (0..<1_000).flatMap { _ in [first.next(), second.next()] }
        // Of so many random ones two are alike once in two thousand times.
        #expect(Set(masks).count >= masks.count - 2)
    }

    @Test func `What is written is read on the other side`() throws {
        for role in [FrameRole.client, .server] {
            for length in [0, 1, 7, 8, 9, 125, 126, 127, 65_535, 65_536, 70_001] {
                let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                let mask: UInt32? = role == .server ? .random(in: 0 ... .max) : nil
                let bytes =
                    FrameWriter.frame(.binary, payload, isFinal: false, mask: mask)
                    + FrameWriter.frame(.continuation, payload, length / 3..<length, mask: mask)
                if let mask, length > 3 { #expect(Array(bytes.suffix(length)) != payload && mask != 0) }
                for size in [1, 3, 4_096, bytes.count] where size > 16 || length < 1_000 {
                    var reader = MessageReader(role: role, messageLimit: 1 << 20)
                    var events: [MessageReader.Event] = []
                    for start in stride(from: 0, to: bytes.count, by: size) {
                        try reader.take(Array(bytes[start..<min(start + size, bytes.count)])) { events.append($0) }
                    }
                    #expect(events == [.binary(payload + payload[(length / 3)...])])
                    let isBetween = reader.isBetweenFrames
                    #expect(isBetween)
                }
            }
        }
    }

    @Test func `A client that doesn't mask is refused, and limits hold`() {
        var server = MessageReader(role: .server, messageLimit: 10)
        var code: UInt16?
        do throws(FrameViolation) { try server.take(frame(1, "a")) { _ in } } catch { code = error.code }
        #expect(code == 1002)
        for (frames, limit) in [([frame(2, [1, 2, 3])], 2), ([frame(2, [1, 2], isFinal: false), frame(0, [3])], 2)] {
            #expect(FrameCase("", frames).played([frames.flatMap { $0 }], limit: limit).violation == 1009)
            #expect(FrameCase("", frames).played([frames.flatMap { $0 }], limit: 3).violation == nil)
        }
    }

    @Test func `A message may have a fragment for each 64 bytes of the limit, and ten thousand at least`() {
        for (limit, most) in [(10, 10_000), (640_000, 10_000), (1 << 20, 1 << 14)] {
            let head = frame(2, [], isFinal: false)
            let fragments = (2..<most).flatMap { _ in frame(0, [], isFinal: false) }
            let last = frame(0, [1])
            let allowed = FrameCase("", []).played([head, fragments, last], limit: limit)
            #expect(allowed.violation == nil && allowed.events == [.binary([1])])
            let refused = FrameCase("", []).played([head, fragments, frame(0, [], isFinal: false), last], limit: limit)
            #expect(refused.violation == 1009 && refused.events.isEmpty)
        }
    }

    /// RFC 6455 §1.3, and the alphabet's edges.
    @Test func `Keys are answered`() {
        #expect(HandshakeKey.answer(to: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        let keys = (0..<20).map { _ in HandshakeKey.make() }
        #expect(Set(keys).count == 20 && keys.allSatisfy { $0.utf8.count == 24 && $0.hasSuffix("==") })
    }

    @Test func `A reason is cut at a character`() {
        let frame = CloseFrame(code: 1000, reason: String(repeating: "ä", count: 100))
        #expect(frame.payload.count == 124)
        #expect(String(decoding: frame.payload[2...], as: UTF8.self) == String(repeating: "ä", count: 61))
    }
}
