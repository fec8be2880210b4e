/// The keys by which a server shows that it has understood an upgrade (RFC 6455 §4.2.2).
package enum HandshakeKey {
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// A `Sec-WebSocket-Key`: 16 random bytes.
    package static func make() -> String { base64((0..<16).map { _ in UInt8.random(in: 0...255) }) }

    /// The `Sec-WebSocket-Accept` that answers a key.
    package static func answer(to key: String) -> String { base64(sha1(Array((key + suffix).utf8))) }

    private static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 { text.append(place <= group.count ? digits[word >> (18 - 6 * place) & 63] : UInt8(ascii: "=")) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// RFC 3174; nothing secret depends on it here.
    private static func sha1(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            padded.append(UInt8(truncatingIfNeeded: (message.count * 8) >> shift))
        }
        for block in stride(from: 0, to: padded.count, by: 64) {
            var words = (0..<16).map { place in
                padded[(block + 4 * place)..<(block + 4 * place + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for place in 16..<80 {
                words.append(rotated(words[place - 3] ^ words[place - 8] ^ words[place - 14] ^ words[place - 16], by: 1))
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for (place, word) in words.enumerated() {
                let (mix, constant): (UInt32, UInt32) =
                    switch place {
                    case ..<20: (b & c | ~b & d, 0x5A82_7999)
                    case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                    case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                    default: (b ^ c ^ d, 0xCA62_C1D6)
                    }
                (a, b, c, d, e) = (rotated(a, by: 5) &+ mix &+ e &+ constant &+ word, a, rotated(b, by: 30), c, d)
            }
            for (place, value) in [a, b, c, d, e].enumerated() { state[place] &+= value }
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}
