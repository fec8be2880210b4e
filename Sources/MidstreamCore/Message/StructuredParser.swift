/// Reads the parts of Structured Fields (RFC 9651 §4.2), forward over the bytes. What a function can't read it answers with nil or
/// false; the text is none of them then.
struct StructuredParser {
    typealias Value = StructuredDictionary.Value

    private let bytes: ArraySlice<UInt8>
    private var place: Int

    init(_ text: String) {
        let all = Array(text.utf8)
        bytes = all[..<((all.lastIndex { $0 != 32 } ?? -1) + 1)]
        place = bytes.startIndex
    }

    var isAtEnd: Bool { place == bytes.endIndex }
    private var current: UInt8? { isAtEnd ? nil : bytes[place] }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    mutating func skipSpaces() {
        while current == 32 { place += 1 }
    }

    /// Spaces and tabs.
    mutating func skipWhitespace() {
        while current == 32 || current == 9 { place += 1 }
    }

    /// A key (§4.2.3.3).
    mutating func key() -> String? {
        let start = place
        guard let first = current, Self.isLower(first) || first == UInt8(ascii: "*") else { return nil }
        while let byte = current, Self.isLower(byte) || 48...57 ~= byte || "_-.*".utf8.contains(byte) { place += 1 }
        return text(from: start)
    }

    /// An item or an inner list, without the parameters behind it.
    mutating func member() -> Value? {
        guard take("(") else { return item() }
        var values: [Value] = []
        while true {
            skipSpaces()
            if take(")") { return .list(values) }
            guard let value = item(), parameters(), current == 32 || current == UInt8(ascii: ")") else { return nil }
            values.append(value)
        }
    }

    /// Any number of parameters (§4.2.3.2), checked and forgotten.
    mutating func parameters() -> Bool { parameters { _, _ in } }

    /// Any number of parameters, in order.
    mutating func parameters(_ take: (String, Value) -> Void) -> Bool {
        while self.take(";") {
            skipSpaces()
            guard let key = key() else { return false }
            var value = Value.boolean(true)
            if self.take("=") {
                guard let read = item() else { return false }
                value = read
            }
            take(key, value)
        }
        return true
    }

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
            guard case .integer(let seconds)? = number() else { return nil }
            return .date(seconds)
        case UInt8(ascii: "%"): return displayString()
        default: return token()
        }
    }

    private mutating func number() -> Value? {
        let isNegative = take("-")
        var whole = 0
        var digits = 0
        while let byte = current, 48...57 ~= byte {
            digits += 1
            guard digits <= 15 else { return nil }
            whole = whole * 10 + Int(byte - 48)
            place += 1
        }
        guard digits > 0 else { return nil }
        guard take(".") else { return .integer(isNegative ? -whole : whole) }
        guard digits <= 12 else { return nil }
        var fraction = 0.0
        var scale = 1.0
        var decimals = 0
        while let byte = current, 48...57 ~= byte {
            decimals += 1
            guard decimals <= 3 else { return nil }
            scale *= 10
            fraction = fraction * 10 + Double(byte - 48)
            place += 1
        }
        guard decimals > 0 else { return nil }
        let value = Double(whole) + fraction / scale
        return .decimal(isNegative ? -value : value)
    }

    private mutating func string() -> Value? {
        place += 1
        var content: [UInt8] = []
        while let byte = current {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return .string(String(decoding: content, as: UTF8.self))
            case UInt8(ascii: "\\"):
                guard let next = current, next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") else { return nil }
                content.append(next)
                place += 1
            case 0x20...0x7E: content.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func token() -> Value? {
        let start = place
        guard let first = current, Self.isLower(first | 0x20) || first == UInt8(ascii: "*") else { return nil }
        while let byte = current, byte.isTokenCharacter || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/") { place += 1 }
        return .token(text(from: start))
    }

    private mutating func byteSequence() -> Value? {
        place += 1
        while let byte = current {
            place += 1
            if byte == UInt8(ascii: ":") { return .bytes }
            guard Self.isLower(byte | 0x20) || 48...57 ~= byte || "+/=".utf8.contains(byte) else { return nil }
        }
        return nil
    }

    private mutating func displayString() -> Value? {
        place += 1
        guard take("\"") else { return nil }
        while let byte = current {
            place += 1
            if byte == UInt8(ascii: "\"") { return .displayString }
            guard 0x20...0x7E ~= byte else { return nil }
        }
        return nil
    }

    private static func isLower(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }

    private func text(from start: Int) -> String { String(decoding: bytes[start..<place], as: UTF8.self) }
}
