/// Reads the parts of field values (RFC 9110 §5.6): tokens, quoted strings, parameters, lists.
///
/// It goes forward over the bytes and looks at each a fixed number of times. Parts are ranges, and strings are made only on demand: a value
/// may have hundreds of thousands of unused parts.
package struct FieldValueScanner: Sendable {
    /// A token, or the content of a quoted string.
    package struct Part: Sendable, Equatable {
        let range: Range<Int>
        /// Whether a backslash stands for the character behind it.
        let isEscaped: Bool

        /// How many bytes it takes in the value.
        package var count: Int { range.count }
    }

    /// A parameter (RFC 9110 §5.6.6).
    package struct Parameter: Sendable, Equatable {
        /// The name; case doesn't matter.
        package let name: Part
        /// Whether an `=` stands behind the name.
        package let hasMark: Bool
        /// nil when there is none that can be read.
        package let value: Part?
    }

    private let bytes: [UInt8]
    private var position = 0

    /// Begins at the start of a value.
    package init(_ value: String) { bytes = Array(value.utf8) }

    /// Begins at the start of a value's bytes.
    package init(_ value: UnsafeBufferPointer<UInt8>) { bytes = Array(value) }

    /// Whether all has been read.
    package var isAtEnd: Bool { position == bytes.count }

    /// The byte that is read next; nil at the end.
    package var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Reads one byte, if it is this one.
    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Passes over one byte.
    package mutating func skipByte() { position = min(position + 1, bytes.count) }

    /// Passes over optional whitespace (RFC 9110 §5.6.3).
    package mutating func skipSpace() {
        position = place { $0 != 32 && $0 != 9 }
    }

    /// Passes over whitespace and a separator, as often as they come: elements of a list may be empty (RFC 9110 §5.6.1.2).
    package mutating func skipSeparators(_ separator: Unicode.Scalar) {
        let separator = UInt8(ascii: separator)
        position = place { $0 != 32 && $0 != 9 && $0 != separator }
    }

    /// Passes over everything before a separator outside of quotes.
    package mutating func skip(to separator: Unicode.Scalar) {
        let separator = UInt8(ascii: separator)
        while true {
            position = place { $0 == separator || $0 == UInt8(ascii: "\"") }
            guard quotedString() != nil else { return }
        }
    }

    /// Reads the next member of a list without quotes, without the space around it; empty ones are passed over. nil at the end.
    package mutating func member(of separator: Unicode.Scalar) -> Part? {
        skipSeparators(separator)
        guard !isAtEnd else { return nil }
        let start = position
        let separator = UInt8(ascii: separator)
        position = place { $0 == separator }
        var end = position
        while bytes[end - 1] == 32 || bytes[end - 1] == 9 { end -= 1 }
        return Part(range: start..<end, isEscaped: false)
    }

    /// Reads up to a character, and that too; nil, and everything is read, when it doesn't come any more.
    package mutating func part(through character: Unicode.Scalar) -> Part? {
        let start = position
        let character = UInt8(ascii: character)
        let end = place { $0 == character }
        // Everything is read without it, so that the search isn't repeated.
        position = min(end + 1, bytes.count)
        guard end < bytes.count else { return nil }
        return Part(range: start..<end, isEscaped: false)
    }

    /// Reads a token (RFC 9110 §5.6.2); nil, and nothing is read, when none begins here.
    package mutating func token() -> Part? {
        let start = position
        let characters = ASCIISet.token
        position = place { !characters.contains($0) }
        return position > start ? Part(range: start..<position, isEscaped: false) : nil
    }

    /// Passes over everything before the next token.
    package mutating func skipToToken() {
        let characters = ASCIISet.token
        position = place { characters.contains($0) }
    }

    /// The place of the next byte that the closure accepts; the end when there is none.
    @inline(__always)
    private func place(where isWanted: (UInt8) -> Bool) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            var place = position
            while place < bytes.count, !isWanted(bytes[place]) { place += 1 }
            return place
        }
    }

    /// Reads a quoted string (RFC 9110 §5.6.4); nil, and nothing is read, when none begins here. One without an end reaches to
    /// that of the value.
    package mutating func quotedString() -> Part? {
        guard take("\"") else { return nil }
        let start = position
        var isEscaped = false
        while true {
            position = place { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
            guard current == UInt8(ascii: "\\") else { break }
            isEscaped = true
            position = min(position + 2, bytes.count)
        }
        defer { skipByte() }
        return Part(range: start..<position, isEscaped: isEscaped)
    }

    /// Reads a parameter, with the space around its `=` that senders put there although they mustn't; nil, and nothing is read, when
    /// no name begins here.
    ///
    /// - Parameter takesAnything: Whether a value without quotes, and not only a token, goes up to a semicolon, a comma or a space: senders
    ///   leave out quotes around more than tokens.
    package mutating func parameter(takesAnything: Bool = false) -> Parameter? {
        guard let name = token() else { return nil }
        skipSpace()
        guard take("=") else { return Parameter(name: name, hasMark: false, value: nil) }
        skipSpace()
        return Parameter(name: name, hasMark: true, value: quotedString() ?? (takesAnything ? unquotedPart() : token()))
    }

    private mutating func unquotedPart() -> Part {
        let start = position
        position = place { $0 == 32 || $0 == 9 || $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }
        return Part(range: start..<position, isEscaped: false)
    }
}

extension FieldValueScanner {
    /// The text of a part, without the backslashes of a quoted string.
    package func text(_ part: Part) -> String {
        let content = bytes[part.range]
        guard part.isEscaped else { return String(decoding: content, as: UTF8.self) }
        var plain: [UInt8] = []
        plain.reserveCapacity(content.count)
        var isQuoted = false
        content.withUnsafeBufferPointer { content in
            for byte in content {
                isQuoted = byte == UInt8(ascii: "\\") && !isQuoted
                if !isQuoted { plain.append(byte) }
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The text of a part in small letters, for comparisons of names.
    package func lowercasedText(_ part: Part) -> String {
        let content = bytes[part.range]
        return content.allSatisfy { $0 < 128 && !(0x41...0x5A ~= $0) } && !part.isEscaped
            ? String(decoding: content, as: UTF8.self) : text(part).lowercased()
    }

    /// Whether a part is a quoted string without an end.
    package func isOpen(_ part: Part) -> Bool {
        let (start, end) = (part.range.lowerBound, part.range.upperBound)
        return end == bytes.count && start > 0 && bytes[start - 1] == UInt8(ascii: "\"")
    }

    /// Whether a part is a token (RFC 9110 §5.6.2).
    package func isToken(_ part: Part) -> Bool {
        let characters = ASCIISet.token
        return !part.range.isEmpty && bytes[part.range].allSatisfy { characters.contains($0) }
    }

    /// Whether a token is this one, but for the case of ASCII letters.
    package func isToken(_ part: Part, _ name: StaticString) -> Bool {
        guard part.range.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { name in
            zip(bytes[part.range], name).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
        }
    }

    /// The value of a parameter behind the first semicolon of a value, such as the charset of a media type (RFC 9110 §8.3.1). The
    /// first of its name counts; nil when there is none.
    ///
    /// - Parameter takesAnything: As of ``parameter(takesAnything:)``.
    package static func parameter(_ name: StaticString, of value: String, takesAnything: Bool = false) -> String? {
        var scanner = FieldValueScanner(value)
        while true {
            scanner.skip(to: ";")
            scanner.skipSeparators(";")
            guard !scanner.isAtEnd else { return nil }
            guard let parameter = scanner.parameter(takesAnything: takesAnything), scanner.isToken(parameter.name, name) else {
                continue
            }
            if let value = parameter.value { return scanner.text(value) }
        }
    }
}
