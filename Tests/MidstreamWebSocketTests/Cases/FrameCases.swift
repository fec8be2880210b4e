import WebSocketFrames

/// The rules of RFC 6455 one by one, in the order in which test suites for it have them.
extension FrameCase {
    static let all: [FrameCase] =
        wholeMessages + pings + reservedBits + opcodes + fragmentation + texts + closing + codes + largeMessages + lengths

    private static let lengthsOfMessages = [0, 1, 125, 126, 127, 128, 65_535, 65_536]

    private static let wholeMessages: [FrameCase] = lengthsOfMessages.flatMap { length in
        let text = [UInt8](repeating: UInt8(ascii: "*"), count: length)
        let bytes = [UInt8](repeating: 0xFE, count: length)
        return [
            FrameCase("text of \(length)", [frame(1, text)], [.text(text)]),
            FrameCase("binary of \(length)", [frame(2, bytes)], [.binary(bytes)]),
        ]
    }

    private static let pings: [FrameCase] = [
        FrameCase("empty ping", [frame(9)], [.ping([])]),
        FrameCase("ping", [frame(9, "hello")], [.ping(Array("hello".utf8))]),
        FrameCase("binary ping", [frame(9, [0, 0xFF, 0xFE, 0xFD])], [.ping([0, 0xFF, 0xFE, 0xFD])]),
        FrameCase(
            "ping of 125", [frame(9, [UInt8](repeating: 1, count: 125))], [.ping([UInt8](repeating: 1, count: 125))]),
        FrameCase("ping of 126", [frame(9, [UInt8](repeating: 1, count: 126))], violation: 1002),
        FrameCase("pong unasked", [frame(10), frame(10, "x"), frame(9, "y")], [.pong([]), .pong([120]), .ping([121])]),
        FrameCase("ten pings", (0..<10).map { frame(9, [$0]) }, (0..<10).map { .ping([$0]) }),
    ]

    private static let reservedBits: [FrameCase] =
        (1...7).flatMap { bits in
            [1, 2, 8, 9, 10].map { opcode in
                FrameCase("bits \(bits) on \(opcode)", [frame(opcode, [97], bits: bits)], violation: 1002)
            }
        } + [
            FrameCase(
                "bits after a message", [frame(1, "a"), frame(1, [98], bits: 4), frame(9)], [.text([97])], violation: 1002)
        ]

    private static let opcodes: [FrameCase] = ([3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8]).flatMap { opcode in
        [
            FrameCase("opcode \(opcode)", [frame(opcode)], violation: 1002),
            FrameCase(
                "opcode \(opcode) after a text", [frame(1, "a"), frame(opcode, "b"), frame(9)], [.text([97])], violation: 1002),
        ]
    }

    private static let fragmentation: [FrameCase] = [
        FrameCase("fragmented ping", [frame(9, "a", isFinal: false), frame(0, "b")], violation: 1002),
        FrameCase("fragmented pong", [frame(10, "a", isFinal: false), frame(0, "b")], violation: 1002),
        FrameCase("fragmented close", [frame(8, [], isFinal: false)], violation: 1002),
        FrameCase("two fragments", [frame(1, "ab", isFinal: false), frame(0, "cd")], [.text(Array("abcd".utf8))]),
        FrameCase(
            "three binary ones", [frame(2, [0], isFinal: false), frame(0, [1], isFinal: false), frame(0, [2])],
            [.binary([0, 1, 2])]),
        FrameCase(
            "ping between", [frame(1, "ab", isFinal: false), frame(9, "p"), frame(0, "cd")],
            [.ping([112]), .text(Array("abcd".utf8))]),
        FrameCase(
            "pings between empty fragments",
            [frame(1, "", isFinal: false), frame(9), frame(0, "", isFinal: false), frame(10), frame(0, "")],
            [.ping([]), .pong([]), .text([])]),
        FrameCase("continues nothing", [frame(0, "a")], violation: 1002),
        FrameCase("continues nothing, to be continued", [frame(0, "a", isFinal: false)], violation: 1002),
        FrameCase("continues what is whole", [frame(1, "a"), frame(0, "b")], [.text([97])], violation: 1002),
        FrameCase("text within text", [frame(1, "a", isFinal: false), frame(1, "b")], violation: 1002),
        FrameCase("binary within text", [frame(1, "a", isFinal: false), frame(2, [1])], violation: 1002),
        FrameCase(
            "a second message after one", [frame(1, "a", isFinal: false), frame(0, "b"), frame(1, "c")],
            [.text(Array("ab".utf8)), .text([99])]),
    ]

    private static let valid: [String] = [
        "\u{3BA}\u{1F79}\u{3C3}\u{3BC}\u{3B5}", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}",
        "\u{FFFD}", "\u{FFFF}", "\u{10000}",
        "\u{10FFFF}", "Hello-\u{B5}@\u{DF}\u{F6}-UTF-8!!", "\u{1F469}\u{200D}\u{1F467}",
    ]

    /// With how many bytes the wrong one is.
    private static let invalid: [(bytes: [UInt8], wrong: Int)] = [
        ([0x80], 1), ([0xBF], 1), ([0xC0, 0xAF], 1), ([0xC1, 0xBF], 1), ([0xC2, 0x41], 2), ([0xE0, 0x9F, 0xBF], 2),
        ([0xE0, 0x80, 0xAF], 2), ([0xED, 0xA0, 0x80], 2), ([0xED, 0xBF, 0xBF], 2), ([0xE1, 0x80, 0xC0], 3),
        ([0xF0, 0x80, 0x80, 0xAF], 2),
        ([0xF0, 0x8F, 0xBF, 0xBF], 2), ([0xF4, 0x90, 0x80, 0x80], 2), ([0xF5, 0x80, 0x80, 0x80], 1),
        ([0xF8, 0x88, 0x80, 0x80, 0x80], 1),
        ([0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], 1), ([0xFE], 1), ([0xFF], 1), ([0xF1, 0x80, 0x80, 0x41], 4),
        ([0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0xED, 0xA0], 7),
    ]

    private static let texts: [FrameCase] = valid.flatMap { right($0) } + invalid.flatMap { wrong($0.bytes, at: $0.wrong) }

    private static func right(_ text: String) -> [FrameCase] {
        let bytes = Array(text.utf8)
        var cases = [
            FrameCase("valid \(bytes)", [frame(1, bytes)], [.text(bytes)]),
            FrameCase("valid \(bytes), byte by byte", fragments(1, bytes, of: 1), [.text(bytes)]),
        ]
        if let last = bytes.last, last > 127 {
            cases.append(FrameCase("cut \(bytes)", [frame(1, bytes.dropLast())], violation: 1007))
        }
        return cases
    }

    private static func wrong(_ bytes: [UInt8], at place: Int) -> [FrameCase] {
        let more = [UInt8](repeating: 97, count: 100)
        return [
            FrameCase("invalid \(bytes)", [frame(1, bytes)], violation: 1007),
            FrameCase("invalid \(bytes), fragmented", fragments(1, bytes + [97], of: 1), violation: 1007),
            // At once: neither the message nor its frame is over.
            FrameCase("invalid \(bytes), to come", [Array(frame(1, bytes + more)[..<(2 + place)])], violation: 1007),
        ]
    }

    private static let closing: [FrameCase] = [
        FrameCase("close", [frame(8)], [.close(CloseFrame(code: nil))]),
        FrameCase("close with half a code", [frame(8, [3])], violation: 1002),
        FrameCase("close with a code", [closeFrame(1000)], [.close(CloseFrame(code: 1000))]),
        FrameCase("close with a reason", [closeFrame(1000, Array("bye".utf8))], [.close(CloseFrame(code: 1000, reason: "bye"))]),
        FrameCase(
            "close with a long reason", [closeFrame(1000, [UInt8](repeating: 42, count: 123))],
            [.close(CloseFrame(code: 1000, reason: String(repeating: "*", count: 123)))]),
        FrameCase("close with a longer one", [closeFrame(1000, [UInt8](repeating: 42, count: 124))], violation: 1002),
        FrameCase("close with a reason that isn't UTF-8", [closeFrame(1000, [0xCE, 0xBA, 0xED, 0xA0])], violation: 1007),
        FrameCase("close with a cut reason", [closeFrame(1000, [0xCE])], violation: 1007),
        FrameCase("a text after the close", [closeFrame(1000), frame(1, "a")], [.close(CloseFrame(code: 1000))]),
        FrameCase("garbage after the close", [frame(8), [0xFF, 0xFF]], [.close(CloseFrame(code: nil))]),
        FrameCase(
            "close within a message", [frame(1, "a", isFinal: false), closeFrame(1001), frame(0, "b")],
            [.close(CloseFrame(code: 1001))]),
    ]

    private static let codes: [FrameCase] =
        ([1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999] as [UInt16]).map {
            FrameCase("code \($0)", [closeFrame($0)], [.close(CloseFrame(code: $0))])
        }
        + ([0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] as [UInt16]).map {
            FrameCase("code \($0)", [closeFrame($0)], violation: 1002)
        }

    private static let largeMessages: [FrameCase] = [64 << 10, 256 << 10, 1 << 20].flatMap { large($0) }

    private static func large(_ size: Int) -> [FrameCase] {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: size)
        return [FrameCase("text of \(size)", [frame(1, text)], [.text(text)])]
            + [64, 1_300, 64 << 10].map { piece in
                FrameCase("binary of \(size) in frames of \(piece)", fragments(2, text, of: piece), [.binary(text)])
            }
    }

    private static let lengths: [FrameCase] = [
        FrameCase("a length of two bytes for one", [[0x82, 126, 0, 125]], violation: 1002),
        FrameCase("a length of eight bytes for two", [[0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]], violation: 1002),
        FrameCase("a length of 64 bits", [[0x82, 127, 0x80]], violation: 1002),
        FrameCase(
            "a length beyond what is allowed", [[0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]], violation: 1009),
        FrameCase("masked", [[0x82, 0x81, 1, 2, 3, 4, 5]], violation: 1002),
    ]
}
