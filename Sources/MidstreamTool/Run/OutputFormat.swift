import Foundation
import Midstream

/// How answers are shown: on a terminal with colour, and JSON with line breaks; otherwise as they came.
struct OutputFormat {
    /// Nil: as the terminal and the environment have it.
    var color: Bool?
    var isRaw = false

    private static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether colour is wanted (no-color.org).
    var isColored: Bool {
        color
            ?? (Self.isTerminal && ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty
                && ProcessInfo.processInfo.environment["TERM"] != "dumb")
    }

    /// Whether bodies are laid out for people where they go.
    func laysOut(for descriptor: Int32) -> Bool { !isRaw && (isatty(descriptor) == 1 || color == true) }

    /// Whether a body would only disturb a terminal.
    func isUnfit(_ bytes: some Collection<UInt8>, for descriptor: Int32) -> Bool {
        !isRaw && isatty(descriptor) == 1 && bytes.contains(0)
    }

    func statusLine(_ response: HTTPResponse) -> String {
        let code = response.status.code
        return colored("\(response.version) \(response.status)", code < 300 ? 32 : code < 400 ? 36 : 31)
    }

    func field(_ name: HTTPHeaders.Name, _ value: String) -> String {
        "\(colored(name.rawValue.escapingControls, 34)): \(value.escapingControls)"
    }

    /// JSON with an indented line for each value; nil when it is none.
    func laidOut(_ bytes: [UInt8], contentType: String?) -> String? {
        let type = (contentType ?? "").prefix { $0 != ";" }.lowercased()
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        // Foundation reads UTF-16 and UTF-32 as well, in which each sign of JSON's has a 0; in UTF-8 none has.
        guard type == "application/json" || type.hasSuffix("+json"), text.count <= 4 << 20, !text.contains(0),
            !text.starts(with: mark),
            (try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)) != nil
        else { return nil }
        return JSONLayout(paint: colored).text(of: text)
    }

    /// A line with the colours of JSON, if that is what it is.
    func painted(_ line: String) -> String {
        guard (try? JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed)) != nil else {
            return line.escapingControls
        }
        return JSONLayout(paint: colored, isOneLine: true).text(of: Array(line.utf8)[...])
    }

    private func colored(_ text: String, _ code: Int) -> String { isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}

/// Lays JSON out as it is: numbers keep their digits, members their order.
private struct JSONLayout {
    let paint: (String, Int) -> String
    var isOneLine = false

    func text(of bytes: ArraySlice<UInt8>) -> String {
        var (text, depth, rest) = ("", 0, bytes)
        func line() { if !isOneLine { text += "\n" + String(repeating: "  ", count: depth) } }
        while let byte = rest.popFirst() {
            let mark = Unicode.Scalar(byte)
            switch mark {
            case "{", "[":
                text.unicodeScalars.append(mark)
                rest = rest.drop(while: \.isJSONSpace)
                depth += 1
                if rest.first != UInt8(ascii: "}"), rest.first != UInt8(ascii: "]") { line() }
            case "}", "]":
                depth -= 1
                if text.unicodeScalars.last != "{", text.unicodeScalars.last != "[" { line() }
                text.unicodeScalars.append(mark)
            case ",":
                text += isOneLine ? ", " : ","
                line()
            case ":": text += ": "
            case "\"":
                let string = Self.string(bytes[(rest.startIndex - 1)...])
                rest = rest[string.endIndex...]
                let isName = rest.drop(while: \.isJSONSpace).first == UInt8(ascii: ":")
                text += paint(String(decoding: string, as: UTF8.self).escapingControls, isName ? 34 : 32)
            case _ where byte.isJSONSpace: break
            default:
                let word = bytes[(rest.startIndex - 1)...].prefix { !$0.isJSONSpace && !",]}".utf8.contains($0) }
                text += paint(String(decoding: word, as: UTF8.self).escapingControls, 36)
                rest = rest[word.endIndex...]
            }
        }
        return text
    }

    private static func string(_ rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var place = rest.startIndex + 1
        while place < rest.endIndex, rest[place] != UInt8(ascii: "\"") { place += rest[place] == UInt8(ascii: "\\") ? 2 : 1 }
        return rest[..<min(place + 1, rest.endIndex)]
    }
}
