extension UInt8 {
    /// Whether the byte may stand in a token, such as a method or a field name (RFC 9110 §5.6.2).
    package var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
            UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"),
            UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// The digit of a number below 16, in capital letters as percent-encoding has them (RFC 3986 §2.1).
    fileprivate var hexadecimalDigit: UInt8 { self < 10 ? self + 0x30 : self + 0x37 }

    /// The number that a hexadecimal digit stands for; nil for any other byte.
    package var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }

    /// The byte with an ASCII capital letter made small.
    @inline(__always)
    package var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

    /// Whether the byte is an unreserved character of a URI (RFC 3986 §2.3), which never needs percent-encoding.
    var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension String {
    /// Whether the text is a token (RFC 9110 §5.6.2).
    package var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenCharacter) }

    /// Whether the texts are the same but for the case of ASCII letters.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// The text with every byte outside the unreserved characters percent-encoded (RFC 3986 §2.1).
    package var percentEncoded: String { percentEncoded { $0.isUnreserved } }

    /// The text with some of its bytes percent-encoded.
    func percentEncoded(keeping isPlain: (UInt8) -> Bool) -> String {
        if utf8.allSatisfy(isPlain) { return self }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(3 * utf8.count)
        for byte in utf8 { encoded.appendPercentEncoding(byte, unless: isPlain(byte)) }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Adds a byte as it is, or as `%` and two digits (RFC 3986 §2.1).
    mutating func appendPercentEncoding(_ byte: UInt8, unless isPlain: Bool) {
        if isPlain {
            append(byte)
        } else {
            append(UInt8(ascii: "%"))
            append((byte >> 4).hexadecimalDigit)
            append((byte & 15).hexadecimalDigit)
        }
    }
}
