internal import MidstreamCore

/// Compares the names of JSON members, which may be written with escapes (RFC 8259 §7, §8.3).
enum JSONKey {
    /// Whether what stands between the quotes of a name is the key.
    static func isKey(_ content: Slice<UnsafeRawBufferPointer>, _ key: String) -> Bool {
        let wanted = key.utf8
        // An escape is at most six times as long as what it stands for, so most names needn't be looked at.
        guard content.count >= wanted.count, content.count <= 6 * wanted.count else { return false }
        guard content.contains(UInt8(ascii: "\\")) else { return content.elementsEqual(wanted) }
        return unescaped(content)?.elementsEqual(wanted) ?? false
    }

    /// The content of a string without escapes; nil when one of them is none.
    private static func unescaped(_ content: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
        var plain: [UInt8] = []
        plain.reserveCapacity(content.count)
        var rest = content
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                plain.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "u"):
                guard let scalar = scalar(&rest), let encoded = UTF8.encode(scalar) else { return nil }
                plain += encoded
            case UInt8(ascii: "b"): plain.append(8)
            case UInt8(ascii: "t"): plain.append(9)
            case UInt8(ascii: "n"): plain.append(10)
            case UInt8(ascii: "f"): plain.append(12)
            case UInt8(ascii: "r"): plain.append(13)
            case .some(let escaped) where "\"\\/".utf8.contains(escaped): plain.append(escaped)
            default: return nil
            }
        }
        return plain
    }

    /// Reads what stands behind `\u`: four digits, or twice four for what lies beyond the first plane.
    private static func scalar(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Unicode.Scalar? {
        guard let first = number(&rest) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"), let second = number(&rest),
            UTF16.isTrailSurrogate(second)
        else { return nil }
        return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
    }

    private static func number(_ rest: inout Slice<UnsafeRawBufferPointer>) -> UInt16? {
        var number: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = rest.popFirst()?.hexadecimalValue else { return nil }
            number = number << 4 | UInt16(digit)
        }
        return number
    }
}
