/// Parses Structured Fields (RFC 9651 §4.2), forward over the bytes. Functions return nil or false where the text is invalid.
///
/// It accepts as many parts of each kind as every parser must (§3). Texts with more are invalid, since each part costs memory.
struct StructuredParser {
    typealias Value = StructuredDictionary.Value

    /// How many members a Dictionary or a List may have (§3.1, §3.2).
    private static let mostMembers = 1024
    /// How many items an Inner List may have, and how many parameters anything (§3.1.1, §3.1.2).
    private static let mostItems = 256

    private let bytes: [UInt8]
    /// Behind it are only spaces.
    private let end: Int
    private var place = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
        end = (bytes.lastIndex { $0 != 32 } ?? -1) + 1
    }

    private var isAtEnd: Bool { place == end }
    private var current: UInt8? { isAtEnd ? nil : bytes[place] }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func skipSpaces() { pass { $0 == 32 } }

    /// Spaces and tabs.
    private mutating func skipWhitespace() { pass { $0 == 32 || $0 == 9 } }

    /// Members up to the end, each read by a closure; false when the text is invalid.
    mutating func members(_ read: (inout StructuredParser) -> Bool) -> Bool {
        skipSpaces()
        if isAtEnd { return true }
        for _ in 0..<Self.mostMembers {
            guard read(&self) else { return false }
            skipWhitespace()
            if isAtEnd { return true }
            guard take(",") else { return false }
            skipWhitespace()
            if isAtEnd { return false }
        }
        return false
    }

    /// A key (§4.2.3.3): where it is.
    mutating func key() -> Range<Int>? {
        let start = place
        guard let first = current, Self.isLower(first) || first == UInt8(ascii: "*") else { return nil }
        let characters = ASCIISet.structuredKey
        pass { characters.contains($0) }
        return start..<place
    }

    /// What a key stands for, read by a closure; true without an `=`.
    mutating func value(_ read: (inout StructuredParser) -> Value?) -> Value? { take("=") ? read(&self) : .boolean(true) }

    /// An item or an inner list, without the parameters behind it.
    mutating func member() -> Value? {
        guard take("(") else { return item() }
        var values: [Value] = []
        while true {
            skipSpaces()
            if take(")") { return .list(values) }
            guard values.count < Self.mostItems, let value = item(), parameters(), current == 32 || current == UInt8(ascii: ")")
            else { return nil }
            values.append(value)
        }
    }

    /// Parameters (§4.2.3.2), checked and forgotten.
    mutating func parameters() -> Bool { parameters { _, _, _ in } }

    /// Parameters, in order.
    ///
    /// - Parameter take: Gets the parser, for the text of the key, the key's place and the value.
    mutating func parameters(_ take: (borrowing StructuredParser, Range<Int>, Value) -> Void) -> Bool {
        var count = 0
        while self.take(";") {
            count += 1
            skipSpaces()
            guard count <= Self.mostItems, let key = key(), let value = value({ $0.item() }) else { return false }
            take(self, key, value)
        }
        return true
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private mutating func item() -> Value? {
        guard let first = current else { return nil }
        switch first {
        case UInt8(ascii: "-"), 48...57: return number()
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: ":"): return byteSequence()
        case UInt8(ascii: "?"):
            place += 1
            if take("1") { return .boolean(true) }
            return take("0") ? .boolean(false) : nil
        case UInt8(ascii: "@"):
            place += 1
            guard case .integer? = number() else { return nil }
            return .date
        case UInt8(ascii: "%"): return displayString()
        default: return token()
        }
    }

    private mutating func number() -> Value? {
        let isNegative = take("-")
        var whole: Int64 = 0
        var digits = 0
        while let byte = current, 48...57 ~= byte {
            digits += 1
            guard digits <= 15 else { return nil }
            whole = whole * 10 + Int64(byte - 48)
            place += 1
        }
        guard digits > 0 else { return nil }
        guard take(".") else { return .integer(isNegative ? -whole : whole) }
        guard digits <= 12 else { return nil }
        let point = place
        pass { 48...57 ~= $0 }
        return 1...3 ~= place - point ? .decimal : nil
    }

    private mutating func string() -> Value? {
        place += 1
        var content: [UInt8] = []
        while true {
            let start = place
            pass { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            content += bytes[start..<place]
            if take("\"") { return .string(String(decoding: content, as: UTF8.self)) }
            guard take("\\"), let next = current, next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") else { return nil }
            content.append(next)
            place += 1
        }
    }

    private mutating func token() -> Value? {
        let start = place
        guard let first = current, Self.isLower(first | 0x20) || first == UInt8(ascii: "*") else { return nil }
        let characters = ASCIISet.token
        pass { characters.contains($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        return .token(text(start..<place))
    }

    private mutating func byteSequence() -> Value? {
        place += 1
        let characters = ASCIISet.base64
        let start = place
        pass { characters.contains($0) }
        let content = start..<place
        return take(":") ? .bytes(text(content)) : nil
    }

    private mutating func displayString() -> Value? {
        place += 1
        guard take("\"") else { return nil }
        pass { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\"") }
        return take("\"") ? .displayString : nil
    }

    /// Goes on to the first byte that the closure doesn't accept.
    @inline(__always)
    private mutating func pass(while isAccepted: (UInt8) -> Bool) {
        place = bytes.withUnsafeBufferPointer { bytes in
            var place = place
            while place < end, isAccepted(bytes[place]) { place += 1 }
            return place
        }
    }

    private static func isLower(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }
}
