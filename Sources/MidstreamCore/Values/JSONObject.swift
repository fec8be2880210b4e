package import Foundation

/// An object in JSON that grows as UTF-8, since an encoder costs as much as the rest of a request.
@usableFromInline
package struct JSONObject: Sendable {
    private var bytes: [UInt8] = []

    package init() {
        bytes.reserveCapacity(640)
        bytes.append(UInt8(ascii: "{"))
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) + "}" }

    /// All of it. Takes the bytes, so that a large one isn't copied.
    package consuming func data() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Makes room at once for what will be written.
    package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    package mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        append(quoted: value)
    }

    package mutating func add(_ name: StaticString, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        begin(name)
        append(value)
    }

    /// As `UUID.uuidString`, which takes a quarter of a whole line's time.
    package mutating func add(_ name: StaticString, _ id: UUID) {
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        withUnsafeBytes(of: id.uuid) { id in
            for (place, byte) in id.enumerated() {
                if place == 4 || place == 6 || place == 8 || place == 10 { bytes.append(UInt8(ascii: "-")) }
                bytes.append((byte >> 4).hexadecimalDigit)
                bytes.append((byte & 15).hexadecimalDigit)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A piece of JSON.
    package mutating func append(raw piece: StaticString) { piece.withUTF8Buffer { bytes += $0 } }

    package mutating func append(raw object: JSONObject) {
        bytes += object.bytes
        bytes.append(UInt8(ascii: "}"))
    }

    /// Made for each type where it is called: a number of any type costs more than its digits.
    @inlinable
    package mutating func append(_ number: some BinaryInteger) {
        append(magnitude: UInt64(number.magnitude), isNegative: number < 0)
    }

    @usableFromInline
    package mutating func append(magnitude: UInt64, isNegative: Bool) {
        if isNegative { bytes.append(UInt8(ascii: "-")) }
        var (rest, count) = (magnitude / 10, 1)
        while rest > 0 { (rest, count) = (rest / 10, count + 1) }
        bytes.append(contentsOf: repeatElement(0, count: count))
        rest = magnitude
        for place in (bytes.count - count..<bytes.count).reversed() {
            bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// 16 hexadecimal digits in small letters.
    package mutating func append(hexadecimal number: UInt64) {
        for place in 0..<16 {
            bytes.append((UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * place)) & 15).smallHexadecimalDigit)
        }
    }

    /// An object that is written where it stands.
    package mutating func append(object write: (inout JSONObject) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        write(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    /// What separates an element of an array from the one before it.
    package mutating func separate() {
        if bytes.last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
    }

    package mutating func append(_ number: Double) { bytes += String(number).utf8 }

    /// An array of objects.
    package mutating func add(_ name: StaticString, _ objects: some Sequence<JSONObject>) {
        add(name, each: objects) { $0.append(raw: $1) }
    }

    /// An array whose elements are written one after the other.
    package mutating func add<Elements: Sequence>(
        _ name: StaticString, each elements: Elements, _ write: (inout JSONObject, Elements.Element) -> Void
    ) {
        begin(name)
        append(raw: "[")
        for element in elements {
            separate()
            write(&self, element)
        }
        append(raw: "]")
    }

    package mutating func add(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        begin(name)
        bytes += (value ? "true" : "false").utf8
    }

    /// In milliseconds, with a digit after the point.
    package mutating func add(_ name: StaticString, _ duration: Duration) {
        begin(name)
        let tenths = Int64((duration / .microseconds(100)).rounded(), within: 9e18)
        bytes += String(tenths / 10).utf8
        bytes.append(UInt8(ascii: "."))
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: (tenths % 10).magnitude))
    }

    /// As `2026-01-31T12:30:00.250Z` (RFC 3339 §5.6).
    package mutating func add(_ name: StaticString, _ date: Date) {
        begin(name)
        let (time, seconds) = (CivilTime(date), date.timeIntervalSince1970)
        // In this order no milliseconds, where the fraction is no number.
        let milliseconds = Int(max(0, min((seconds - seconds.rounded(.down)) * 1_000, 999)))
        bytes.append(UInt8(ascii: "\""))
        append(time.year, length: 4, before: "-")
        append(time.month, length: 2, before: "-")
        append(time.day, length: 2, before: "T")
        append(time.hour, length: 2, before: ":")
        append(time.minute, length: 2, before: ":")
        append(time.second, length: 2, before: ".")
        append(milliseconds, length: 3, before: "Z")
        bytes.append(UInt8(ascii: "\""))
    }

    /// A number with leading zeros.
    private mutating func append(_ number: Int, length: Int, before end: Unicode.Scalar) {
        var unit = length == 4 ? 1_000 : length == 3 ? 100 : 10
        while unit > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
        bytes.append(UInt8(ascii: end))
    }

    /// Begins a member, whose value is appended next.
    package mutating func begin(_ name: StaticString) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes += $0 }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// The same, of a name that may need escaping.
    package mutating func begin(quoted name: String) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        append(quoted: name)
        bytes.append(UInt8(ascii: ":"))
    }

    package mutating func append(quoted text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        let isPlain = text.withUTF8 { text in
            guard text.allSatisfy({ 32...126 ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else {
                return false
            }
            bytes += text
            return true
        }
        if !isPlain { for scalar in text.unicodeScalars { append(escaping: scalar) } }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaping scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": bytes += "\\\"".utf8
        case "\\": bytes += "\\\\".utf8
        case "\n": bytes += "\\n".utf8
        case "\r": bytes += "\\r".utf8
        case "\t": bytes += "\\t".utf8
        // Line separators, since some readers of lines take them for the end of one.
        case _ where scalar.value < 32 || scalar.value == 127 || 0x2028...0x2029 ~= scalar.value:
            let digits = String(scalar.value, radix: 16)
            bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
        default: bytes += String(scalar).utf8
        }
    }
}
