import Foundation

/// Words as a POSIX shell reads them, and `$'…'` as bash does; nothing is expanded. To a shell, a quotation mark stays one when a combining
/// character follows, so words are read by scalars, not by `Character`.
enum ShellWords {
    private typealias Rest = Substring.UnicodeScalarView

    static func split(_ text: String) throws -> [String] {
        var rest = text.unicodeScalars[...]
        var words: [String] = []
        var word: String?
        while let scalar = rest.popFirst() {
            switch scalar {
            case "'": word = (word ?? "") + (try quoted(&rest))
            case "\"": word = (word ?? "") + (try doublyQuoted(&rest))
            case "$" where rest.first == "'":
                rest.removeFirst()
                word = (word ?? "") + (try escaped(&rest))
            case "\\":
                // A line may end as Windows has it.
                if rest.starts(with: "\r\n".unicodeScalars) { rest.removeFirst() }
                if let next = rest.popFirst(), next != "\n" { word = (word ?? "") + String(next) }
            case _ where scalar.properties.isWhitespace:
                if let word { words.append(word) }
                word = nil
            case "~" where word == nil: throw expanded
            case "|", "&", ";", "<", ">":
                throw UsageError("'\(scalar)' is for the shell: midst reads one command, in which a URL that has it is quoted")
            default:
                try refuseExpansion(scalar, before: rest.first)
                word = (word ?? "") + String(scalar)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    static let forWindows = UsageError(
        "the command is one for cmd of Windows; browsers copy one for bash as well, which midst reads")
    private static let expanded = UsageError(
        "midst expands no $NAME and no ~, and runs no `…`: give the command with what they stand for")
    private static let unclosed = UsageError("a quotation mark isn't closed")

    private static func quoted(_ rest: inout Rest) throws -> String {
        guard let end = rest.firstIndex(of: "'") else { throw unclosed }
        defer { rest = rest[rest.index(after: end)...] }
        return String(rest[..<end])
    }

    private static func doublyQuoted(_ rest: inout Rest) throws -> String {
        var text = ""
        while let scalar = rest.popFirst() {
            if scalar == "\"" {
                // To a POSIX shell these are two texts, which nobody writes so.
                guard rest.first != "\"" else { throw forWindows }
                return text
            }
            if scalar == "\\", let next = rest.first, "\"\\$`\n".unicodeScalars.contains(next) {
                rest.removeFirst()
                if next != "\n" { text.unicodeScalars.append(next) }
            } else {
                try refuseExpansion(scalar, before: rest.first)
                text.unicodeScalars.append(scalar)
            }
        }
        throw unclosed
    }

    private static func refuseExpansion(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?) throws {
        let begins = next.map { $0.properties.isAlphabetic || "_{(0123456789@*#?$!-".unicodeScalars.contains($0) } ?? false
        guard scalar == "`" || scalar == "$" && begins else { return }
        throw expanded
    }

    /// What `$'…'` is to bash. Firefox writes `é` as `\xe9`, though, which is a byte there: where the bytes aren't UTF-8, each one
    /// that is escaped is the character of its number.
    private static func escaped(_ rest: inout Rest) throws -> String {
        var (bytes, text) = ([UInt8](), "")
        while let scalar = rest.popFirst() {
            if scalar == "'" { return String(bytes: bytes, encoding: .utf8) ?? text }
            if scalar == "\\", let byte = escapedByte(&rest) {
                bytes.append(byte)
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let meant = scalar == "\\" ? try escapedScalar(&rest) : scalar
                bytes += Array(String(meant).utf8)
                text.unicodeScalars.append(meant)
            }
        }
        throw unclosed
    }

    /// What octal digits behind a backslash spell, or hexadecimal ones behind an `x`.
    private static func escapedByte(_ rest: inout Rest) -> UInt8? {
        guard rest.first == "x" else { return number(&rest, longest: 3, radix: 8).map { UInt8(truncatingIfNeeded: $0) } }
        var digits = rest.dropFirst()
        guard let byte = number(&digits, longest: 2, radix: 16) else { return nil }
        rest = digits
        return UInt8(truncatingIfNeeded: byte)
    }

    /// What follows a backslash, such as `n` or `u20ac`; the backslash where bash leaves it alone.
    private static func escapedScalar(_ rest: inout Rest) throws -> Unicode.Scalar {
        var behind = rest
        guard let letter = behind.popFirst() else { return "\\" }
        var meant = controls[letter]
        if letter == "c" { meant = behind.popFirst().map { Unicode.Scalar(UInt8(truncatingIfNeeded: $0.value & 0x1F)) } }
        if letter == "u" || letter == "U", let unit = number(&behind, longest: letter == "u" ? 4 : 8, radix: 16) {
            meant = try scalar(unit, &behind)
        }
        guard let meant else { return "\\" }
        rest = behind
        return meant
    }

    private static let controls: [Unicode.Scalar: Unicode.Scalar] = [
        "a": "\u{7}", "b": "\u{8}", "e": "\u{1B}", "E": "\u{1B}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t", "v": "\u{B}",
        "\\": "\\", "'": "'", "\"": "\"", "?": "?",
    ]

    /// The character of a unit of UTF-16, which may be the first of two.
    private static func scalar(_ unit: UInt32, _ rest: inout Rest) throws -> Unicode.Scalar {
        if let scalar = Unicode.Scalar(unit) { return scalar }
        var behind = rest.dropFirst(2)
        guard rest.starts(with: #"\u"#.unicodeScalars), let second = number(&behind, longest: 4, radix: 16),
            0xD800..<0xDC00 ~= unit, 0xDC00..<0xE000 ~= second,
            let scalar = Unicode.Scalar(0x1_0000 + (unit & 0x3FF) * 0x400 + (second & 0x3FF))
        else { throw UsageError("half of a character is escaped without the other half") }
        rest = behind
        return scalar
    }

    /// The number that the digits at the beginning spell; nil where there is none.
    private static func number(_ rest: inout Rest, longest: Int, radix: Int) -> UInt32? {
        let digits = rest.prefix(longest).prefix { UInt32(String($0), radix: radix) != nil }
        guard let number = UInt32(String(digits), radix: radix) else { return nil }
        rest = rest[digits.endIndex...]
        return number
    }
}
