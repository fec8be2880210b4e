internal import MidstreamPlatform

extension UInt8 {
    /// Whether the byte may stand in a token, such as a method or a field name (RFC 9110 §5.6.2).
    package var isTokenCharacter: Bool { ASCIISet.token.contains(self) }

    /// The digit of a number below 16, in capital letters as percent-encoding has them (RFC 3986 §2.1).
    package var hexadecimalDigit: UInt8 { self < 10 ? self + 0x30 : self + 0x37 }

    /// The same in small letters.
    var smallHexadecimalDigit: UInt8 { self < 10 ? self + 0x30 : self + 0x57 }

    /// The number that a hexadecimal digit stands for; nil for any other byte.
    @inlinable
    package var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }

    /// The byte with an ASCII capital letter made small.
    @inlinable @inline(__always)
    package var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

    /// Whether the byte is white space in JSON (RFC 8259 §2).
    @inlinable
    package var isJSONSpace: Bool { self == 32 || self == 10 || self == 13 || self == 9 }

    /// Whether the byte is an unreserved character of a URI (RFC 3986 §2.3), which never needs percent-encoding.
    package var isUnreserved: Bool { ASCIISet.unreserved.contains(self) }
}

extension String {
    /// Printed in place of a secret.
    package static let withheld = "‹withheld›"

    /// Whether the text is a token (RFC 9110 §5.6.2).
    package var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenCharacter) }

    /// Whether the texts are the same bytes. `==` takes texts for equal that are so to Unicode, such as a K and the sign of the kelvin, or an
    /// accented letter and the letter with its accent behind it: as names of users, or as values of fields, they are two.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let areSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let first = bytes.baseAddress, let second = others.baseAddress else { return bytes.isEmpty }
                return memcmp(first, second, bytes.count) == 0
            }
        }
        return (areSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the texts are the same but for the case of ASCII letters.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Whether the text begins with these small letters, whatever the case of its own. Compares bytes, as servers do, so that a
    /// combining character behind the prefix doesn't hide it.
    package func hasASCIIPrefix(_ prefix: String) -> Bool { utf8.lazy.map(\.asciiLowercased).starts(with: prefix.utf8) }

    /// The text as a quoted string (RFC 9110 §5.6.4).
    package var quoted: String {
        var quoted = [UInt8(ascii: "\"")]
        // By bytes: a quotation mark that another character combines with ends the string all the same.
        for byte in utf8 {
            if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        return String(decoding: quoted, as: UTF8.self) + "\""
    }

    /// The text as it may be shown on terminals and in logs: control characters (C0 but for the tab, DEL, C1), line separators and
    /// characters that change the direction of writing are escaped as in Swift, `\u{1B}`.
    package var escapingControls: String {
        if utf8.allSatisfy({ 32...126 ~= $0 || $0 == 9 }) { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isControl {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The text with others in the place of some scalars, as a format escapes them. A `Character` isn't what its readers look for: an accent
    /// behind a quotation mark makes another one of both, and so do a `\r` and its `\n`.
    package func replacing(scalars others: [Unicode.Scalar: String]) -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            if let other = others[scalar] { text += other } else { text.unicodeScalars.append(scalar) }
        }
    }

    /// The text with another wherever one stands in it. By scalars, too: an accent at an edge makes one `Character` of both sides.
    package func replacing(scalarsOf text: String, with other: String) -> String {
        String(unicodeScalars.replacing(text.unicodeScalars, with: other.unicodeScalars))
    }

    /// The text with every byte outside the unreserved characters percent-encoded (RFC 3986 §2.1).
    package var percentEncoded: String { percentEncoded(exceptFor: .unreserved) }

    /// The text with every byte percent-encoded that isn't plain, for which the parameters are those of the bytes' own function.
    package func percentEncoded(exceptFor plain: ASCIISet, others: Bool = false, escapes: Bool = false) -> String {
        self[...].withBytes { $0.percentEncoded(exceptFor: plain, others: others, escapes: escapes) } ?? self
    }

    /// The text as it stands in a form (WHATWG URL §5.2).
    package var formEncoded: String {
        let encoded = percentEncoded(exceptFor: .form)
        return String(decoding: encoded.utf8.map { $0 == 32 ? UInt8(ascii: "+") : $0 }, as: UTF8.self)
    }
}

extension Unicode.Scalar {
    /// Whether `escapingControls` escapes it.
    var isControl: Bool {
        switch properties.generalCategory {
        case .control: self != "\t"
        case .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}

extension Substring {
    /// Looks at the bytes of the text, where they lie.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        var text = self
        return try text.withUTF8(body)
    }

    /// The text between two places, counted in bytes, where characters begin.
    subscript(bytes range: Range<Int>) -> Substring {
        let start = utf8.index(startIndex, offsetBy: range.lowerBound)
        return Substring(utf8[start..<utf8.index(start, offsetBy: range.count)])
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The text of the bytes, of which those are percent-encoded (RFC 3986 §2.1) that aren't plain; nil when all are.
    ///
    /// - Parameters:
    ///   - others: Whether bytes beyond ASCII are plain.
    ///   - escapes: Whether a `%` is when two hexadecimal digits follow.
    package func percentEncoded(exceptFor plain: ASCIISet, others: Bool = false, escapes: Bool = false) -> String? {
        var special = 0
        for place in indices where !isPlain(place, plain, others: others, escapes: escapes) { special += 1 }
        guard special > 0 else { return nil }
        return String(unsafeUninitializedCapacity: count + 2 * special) { text in
            var end = 0
            for place in indices {
                if isPlain(place, plain, others: others, escapes: escapes) {
                    text[end] = self[place]
                    end += 1
                } else {
                    text[end] = UInt8(ascii: "%")
                    text[end + 1] = (self[place] >> 4).hexadecimalDigit
                    text[end + 2] = (self[place] & 15).hexadecimalDigit
                    end += 3
                }
            }
            return end
        }
    }

    @inline(__always)
    private func isPlain(_ place: Int, _ plain: ASCIISet, others: Bool, escapes: Bool) -> Bool {
        let byte = self[place]
        guard byte < 128 else { return others }
        return plain.contains(byte)
            || (escapes && byte == UInt8(ascii: "%") && place + 2 < count && self[place + 1].hexadecimalValue != nil
                && self[place + 2].hexadecimalValue != nil)
    }
}

extension [UInt8] {
    /// The bytes with those decoded that are percent-encoded (RFC 3986 §2.1). A `%` that no two hexadecimal digits follow stays.
    ///
    /// - Parameter plusIsSpace: Whether a plus is a space, as in forms (WHATWG URL §5.1).
    package func percentDecoded(plusIsSpace: Bool = false) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(count)
        withUnsafeBufferPointer { plain.append(percentDecoded: $0, plusIsSpace: plusIsSpace) }
        return plain
    }

    /// Adds bytes as ``percentDecoded(plusIsSpace:)`` has them.
    mutating func append(percentDecoded bytes: UnsafeBufferPointer<UInt8>, plusIsSpace: Bool = false) {
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "%"), place + 2 < bytes.count, let high = bytes[place + 1].hexadecimalValue,
                let low = bytes[place + 2].hexadecimalValue
            {
                append(high << 4 | low)
                place += 3
            } else {
                append(plusIsSpace && byte == UInt8(ascii: "+") ? 32 : byte)
                place += 1
            }
        }
    }
}

extension Int64 {
    /// A number of digits alone; nil for anything else, and one that is too large.
    package init?(digits text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        self.init(text)
    }
}
