import TestSupport
import Testing

@testable import WebSocketFrames

@Suite(.leavesNothing) struct DeflateTests {
    private static let messages: [[UInt8]] = [
        [], [0], Array("hello".utf8), Array("hello".utf8), [], [UInt8](repeating: 7, count: 200_000),
        (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }, Array("hello".utf8),
    ]

    private func roundTrip(_ parameters: DeflateParameters, from role: FrameRole) throws -> Int {
        let other: FrameRole = role == .client ? .server : .client
        let deflater = try #require(parameters.deflater(for: role))
        var reader = MessageReader(role: other, messageLimit: 1 << 20, inflater: parameters.inflater(for: other))
        var events: [MessageReader.Event] = []
        var size = 0
        for message in Self.messages {
            let payload = try #require(deflater.deflate(message))
            size += payload.count
            let bytes = FrameWriter.frame(.binary, payload, isCompressed: true, mask: role == .client ? 5 : nil)
            for start in stride(from: 0, to: bytes.count, by: 1_000) {
                try reader.take(Array(bytes[start..<min(start + 1_000, bytes.count)])) { events.append($0) }
            }
        }
        #expect(events == Self.messages.map { .binary($0) })
        return size
    }

    @Test func `Messages come back, whatever was agreed on`() throws {
        for answer in [
            "permessage-deflate", "permessage-deflate; client_no_context_takeover; server_no_context_takeover",
            "permessage-deflate; client_max_window_bits=9; server_max_window_bits=9",
            "permessage-deflate;server_max_window_bits=\"12\"",
        ] {
            let parameters = try #require(DeflateParameters(answer: answer))
            for role in [FrameRole.client, .server] { _ = try roundTrip(parameters, from: role) }
        }
        // What came before is of use only where it may be referred to.
        let (keeping, forgetting) = (
            try roundTrip(DeflateParameters(), from: .client),
            try roundTrip(
                #require(DeflateParameters(answer: "permessage-deflate; client_no_context_takeover")), from: .client)
        )
        #expect(keeping < forgetting)
    }

    @Test func `Answers that weren't offered are refused`() {
        for answer in [
            "", "x-webkit-deflate-frame", "permessage-deflate; unknown", "permessage-deflate; client_max_window_bits",
            "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
            "permessage-deflate; server_max_window_bits=08", "permessage-deflate; client_no_context_takeover=1",
            "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
            "permessage-deflate, permessage-deflate",
            "permessage-deflate;", "permessage-deflate; server_max_window_bits=",
        ] { #expect(DeflateParameters(answer: answer) == nil, "\(answer)") }
        #expect(DeflateParameters(answer: "Permessage-Deflate ; server_max_window_bits=8")?.serverWindowBits == 8)
        var all = DeflateParameters()
        (all.serverKeepsContext, all.clientKeepsContext, all.serverWindowBits, all.clientWindowBits) = (false, false, 10, 11)
        #expect(DeflateParameters(answer: all.answer) == all)
    }

    @Test func `zlib can't deflate with the smallest window, and so it isn't done`() {
        #expect(DeflateParameters(answer: "permessage-deflate; client_max_window_bits=8")?.deflater(for: .client) == nil)
    }

    private func violation(of payload: [UInt8], limit: Int = 1 << 20, as opcode: Opcode = .binary) -> UInt16? {
        var reader = MessageReader(role: .client, messageLimit: limit, inflater: Inflater(windowBits: 15))
        do throws(FrameViolation) {
            try reader.take(FrameWriter.frame(opcode, payload, isCompressed: true)) { _ in }
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `A bomb, garbage and a text that isn't one are refused`() throws {
        let deflater = try #require(Deflater(windowBits: 15, keepsContext: false))
        let bomb = try #require(deflater.deflate([UInt8](repeating: 0, count: 1 << 20)))
        #expect(bomb.count < 2_000)
        #expect(violation(of: bomb) == nil)
        #expect(violation(of: bomb, limit: (1 << 20) - 1) == 1009)
        #expect(violation(of: [0xFF, 0xFF, 0xFF]) == 1007)
        #expect(violation(of: try #require(deflater.deflate([0xFF])), as: .text) == 1007)
        // Only data frames' first ones are marked.
        var marked = frame(9)
        marked[0] |= 0x40
        var reader = MessageReader(role: .client, messageLimit: 10, inflater: Inflater(windowBits: 15))
        var code: UInt16?
        do throws(FrameViolation) { try reader.take(marked) { _ in } } catch { code = error.code }
        #expect(code == 1002)
    }

    @Test func `A compressed frame may say that it is as long as can be`() throws {
        let deflater = try #require(Deflater(windowBits: 15, keepsContext: false))
        let payload = try #require(deflater.deflate([UInt8](repeating: 0, count: 100)))
        let head = [0xC2, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7)
        for (limit, expected) in [(100, nil), (99, 1009)] as [(Int, UInt16?)] {
            var reader = MessageReader(role: .client, messageLimit: limit, inflater: Inflater(windowBits: 15))
            var code: UInt16?
            do throws(FrameViolation) { try reader.take(head + payload) { _ in } } catch { code = error.code }
            #expect(code == expected)
        }
    }

    /// RFC 7692 §7.2.3.
    @Test func `The RFC's examples are read`() throws {
        let hello: [[UInt8]] = [
            [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
            // Without compression, with a last block, and with two blocks.
            [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
            [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
        ]
        for payload in hello {
            var reader = MessageReader(role: .client, messageLimit: 10, inflater: Inflater(windowBits: 15))
            var events: [MessageReader.Event] = []
            try reader.take(FrameWriter.frame(.text, payload, isCompressed: true)) { events.append($0) }
            #expect(events == [.text(Array("Hello".utf8))])
        }
    }
}
