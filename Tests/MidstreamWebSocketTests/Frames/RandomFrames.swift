import TestSupport
import WebSocketFrames

/// A server's bytes: messages whole and in fragments, control frames between, and mostly something that is wrong.
struct RandomFrames {
    /// Larger messages are refused, here and by those that this reader is compared with.
    static let limit = 4096

    private var numbers: SeededGenerator
    /// A message's first fragment has come, and its last one hasn't.
    private var isWithinMessage = false

    init(_ numbers: SeededGenerator) { self.numbers = numbers }

    mutating func next() -> [UInt8] {
        isWithinMessage = false
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...6, using: &numbers) { bytes += frame() }
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: bytes.removeLast(Int.random(in: 1...bytes.count, using: &numbers))
        case 1: bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = byte()
        default: break
        }
        return bytes
    }

    /// The same bytes in pieces.
    mutating func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var place = 0
        while place < bytes.count {
            let end = min(bytes.count, place + (Bool.random(using: &numbers) ? 1 : Int.random(in: 1...200, using: &numbers)))
            pieces.append(Array(bytes[place..<end]))
            place = end
        }
        return pieces
    }

    private mutating func byte() -> UInt8 { .random(in: 0...255, using: &numbers) }

    private mutating func isRare(_ rarity: Int = 30) -> Bool { Int.random(in: 0..<rarity, using: &numbers) == 0 }

    private mutating func frame() -> [UInt8] {
        var opcode: UInt8
        var isFinal = true
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0: opcode = 8
        case 1: opcode = 9
        case 2: opcode = 10
        default:
            // Now and then a message begins within another one, or goes on that hasn't begun.
            opcode = isWithinMessage != isRare() ? 0 : Bool.random(using: &numbers) ? 1 : 2
            isFinal = Bool.random(using: &numbers)
            isWithinMessage = !isFinal
        }
        var payload = opcode == 8 ? closing() : text()
        if opcode > 8, payload.count > 125, !isRare() { payload.removeLast(payload.count - 125) }
        if opcode >= 8, isRare() { isFinal = false }
        if isRare() { opcode = UInt8.random(in: 0...15, using: &numbers) }
        var bytes = [opcode | (isFinal ? 0x80 : 0)]
        if isRare() { bytes[0] |= UInt8.random(in: 1...7, using: &numbers) << 4 }
        bytes += length(payload.count)
        if isRare() {
            bytes[1] |= 0x80
            bytes += [0, 0, 0, 0]
        }
        return bytes + payload
    }

    /// As short as it goes, or not, or not that of the payload.
    private mutating func length(_ length: Int) -> [UInt8] {
        let told = isRare(60) ? Int.random(in: 0...10_000, using: &numbers) : length
        let least = told < 126 ? 0 : told < 65_536 ? 1 : 2
        switch isRare() ? Int.random(in: least...2, using: &numbers) : least {
        case 0: return [UInt8(told)]
        case 1: return [126, UInt8(told >> 8), UInt8(told & 255)]
        default:
            return [127, isRare() ? 0x80 : 0, 0, 0, 0, 0, 0] + [UInt8(told >> 8), UInt8(told & 255)]
        }
    }

    /// Characters of every length; now and then one that is none.
    private mutating func text() -> [UInt8] {
        let characters: [Unicode.Scalar] = ["a", "é", "水", "🌊", "\u{7FF}", "\u{FFFF}", "\u{10FFFF}", "\0"]
        var bytes: [UInt8] = []
        for _ in 0..<(isRare() ? Int.random(in: 0...2_000, using: &numbers) : Int.random(in: 0...60, using: &numbers)) {
            bytes += Array(String(characters.randomElement(using: &numbers) ?? "a").utf8)
        }
        if isRare(), !bytes.isEmpty { bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = byte() }
        if isRare(), !bytes.isEmpty { bytes.removeLast() }
        return bytes
    }

    private mutating func closing() -> [UInt8] {
        let codes: [UInt16] = [999, 1000, 1001, 1003, 1004, 1005, 1006, 1007, 1011, 1014, 1015, 1016, 2999, 3000, 4999, 5000, 0]
        let code = codes.randomElement(using: &numbers) ?? 0
        var payload = [UInt8(code >> 8), UInt8(code & 255)] + text()
        if !isRare() { payload.removeLast(max(0, payload.count - 125)) }
        if isRare(10) { payload.removeLast(payload.count - Int.random(in: 0...1, using: &numbers)) }
        return payload
    }
}
