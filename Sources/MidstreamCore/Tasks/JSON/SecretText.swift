/// Withholds what looks like a secret in a text of unknown format.
///
/// It goes by names: a value behind a name such as `token` or `client_secret` is left out, whether the text is JSON, a form or a
/// header, and even when it is broken or cut.
struct SecretText {
    private static let secretParts = [
        "token", "password", "passwd", "passphrase", "passcode", "pwd", "secret", "apikey", "authorization", "credential",
        "cookie",
        "session", "privatekey", "accesskey", "signature", "bearer", "jwt", "cvv", "cvc", "cardnumber", "iban", "ssn", "otp",
    ]

    /// Whether values of this name are withheld.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        let plain = name.lowercased().filter { $0.isLetter || $0.isNumber }
        return plain == "pin" || plain == "auth" || secretParts.contains { plain.contains($0) }
    }

    private let text: [Character]
    private var position = 0

    private init(_ text: String) { self.text = Array(text) }

    /// The text with each secret value replaced.
    static func withheld(_ text: String) -> String {
        var reader = SecretText(text)
        var shown = ""
        while reader.position < reader.text.count {
            let word = reader.word()
            shown += word
            if word.isEmpty {
                shown.append(reader.text[reader.position])
                reader.position += 1
            } else if isSecret(word), let separator = reader.separator() {
                shown += separator + HTTPHeaders.withheld
                reader.skipValue()
            }
        }
        return shown
    }

    private var current: Character? { position < text.count ? text[position] : nil }

    /// Reads a name, if one begins here.
    private mutating func word() -> String {
        let start = position
        while let character = current, character.isLetter || character.isNumber || "_-.".contains(character) { position += 1 }
        return String(text[start..<position])
    }

    /// Reads what stands between a name and its value; nil, and reads nothing, when no value follows.
    private mutating func separator() -> String? {
        let start = position
        var hasMark = false
        while let character = current, character.isWhitespace || "\"'\\=:".contains(character) {
            if "=:".contains(character) { hasMark = true }
            // The quote behind the mark belongs to the value.
            if hasMark, character == "\"" || character == "'" { break }
            position += 1
        }
        guard hasMark else {
            position = start
            return nil
        }
        return String(text[start..<position])
    }

    private mutating func skipValue() {
        guard let first = current else { return }
        switch first {
        case "\"", "'": skipQuoted(first)
        case "{", "[": skipBracketed()
        default: while let character = current, !"&,;}]\"'<>\n\r".contains(character) { position += 1 }
        }
    }

    private mutating func skipQuoted(_ quote: Character) {
        position += 1
        while let character = current {
            position += character == "\\" ? 2 : 1
            if character == quote { return }
        }
        position = min(position, text.count)
    }

    private mutating func skipBracketed() {
        var depth = 0
        while let character = current {
            switch character {
            case "\"": skipQuoted(character)
            case "{", "[":
                depth += 1
                position += 1
            case "}", "]":
                depth -= 1
                position += 1
            default: position += 1
            }
            if depth == 0 { return }
        }
    }
}
