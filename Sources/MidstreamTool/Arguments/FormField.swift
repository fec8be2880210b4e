import Foundation

/// A field of a form as curl writes it: `name=text` or `name=@file`, and behind either `;type=…` and `;filename=…`. A value with a `;`
/// stands in quotation marks.
struct FormField {
    let name: String
    /// The text, or the path of the file.
    let content: String
    let isFile: Bool
    private(set) var type: String?
    private(set) var fileName: String?

    init(_ word: String) throws {
        guard let end = word.firstIndex(of: "="), end > word.startIndex else {
            throw UsageError("a field of a form is written NAME=TEXT or NAME=@FILE")
        }
        name = String(word[..<end])
        var rest = word[end...].dropFirst()
        guard rest.first != "<", rest.first != "(" else {
            throw UsageError(
                "-F reads no text from a file, as curl does by <, and nests no forms by (: a text that begins so takes quotation marks"
            )
        }
        isFile = rest.first == "@"
        if isFile { rest.removeFirst() }
        // To curl, a comma is followed by another file.
        let ends = isFile ? ";," : ";"
        content = Self.value(&rest, before: ends)
        while !rest.isEmpty {
            let parts = rest.dropFirst().split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard rest.first == ";", parts.count == 2 else { throw Self.unknown }
            rest = parts[1]
            let value = Self.value(&rest, before: ends)
            switch parts[0].trimmingCharacters(in: .whitespaces).lowercased() {
            case "type" where value.contains("/"): type = value
            case "charset" where type != nil: type? += "; charset=\(value)"
            case "filename": fileName = value
            default: throw Self.unknown
            }
        }
    }

    private static let unknown = UsageError(
        "behind a value of -F stands ;type=MAJOR/MINOR or ;filename=NAME; a value with a ; in it, or a file's name with a , in it, "
            + "takes quotation marks")

    /// Takes what stands in quotation marks, or else goes to one of the characters that end it.
    private static func value(_ rest: inout Substring, before ends: String) -> String {
        rest = rest.drop(while: isSpace)
        if let text = quoted(&rest) { return text }
        let text = rest.prefix { !ends.contains($0) }
        rest = rest[text.endIndex...]
        return String(text.reversed().drop(while: isSpace).reversed())
    }

    /// What C takes for white space, and curl leaves out; others are text.
    private static func isSpace(_ character: Character) -> Bool { character.isASCII && character.isWhitespace }

    /// Takes what is in quotation marks; nil: they aren't there, or not at both ends.
    private static func quoted(_ text: inout Substring) -> String? {
        var (rest, content) = (text, "")
        guard rest.popFirst() == "\"" else { return nil }
        while let character = rest.popFirst() {
            if character == "\"" {
                text = rest.drop(while: isSpace)
                return content
            }
            let isEscaped = character == "\\" && rest.first.map { "\"\\".contains($0) } == true
            content.append(isEscaped ? rest.removeFirst() : character)
        }
        return nil
    }
}
