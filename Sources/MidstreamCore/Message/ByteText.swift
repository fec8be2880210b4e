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
    package var percentEncoded: String {
        if utf8.allSatisfy(\.isUnreserved) { return self }
        var encoded = ""
        for byte in utf8 { encoded.appendPercentEncoding(byte, unless: byte.isUnreserved) }
        return encoded
    }

    mutating func appendPercentEncoding(_ byte: UInt8, unless isPlain: Bool) {
        if isPlain {
            unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            let digits = Array("0123456789ABCDEF".unicodeScalars)
            unicodeScalars.append("%")
            unicodeScalars.append(digits[Int(byte >> 4)])
            unicodeScalars.append(digits[Int(byte & 15)])
        }
    }
}
