internal import Foundation

/// Withholds the values of fields in JSON without parsing it, so that a text that is cut off, or isn't quite JSON, hides as much.
struct JSONRedaction {
    private let names: Set<String>
    private let mark: [UInt8]
    private let url: (String) -> String
    private var rest: ArraySlice<UInt8>
    private var shown: [UInt8] = []

    /// - Parameters:
    ///   - names: In small letters; the usual ones are withheld beside them.
    ///   - url: Withholds what is secret in a URL.
    static func redacted(_ text: String, names: Set<String>, mark: String, url: @escaping (String) -> String) -> String {
        var work = Self(names: names, mark: Array("\"\(mark)\"".utf8), url: url, rest: Array(text.utf8)[...])
        work.run()
        return String(decoding: work.shown, as: UTF8.self)
    }

    private mutating func run() {
        while let byte = rest.first {
            guard byte == UInt8(ascii: "\"") else {
                shown.append(rest.removeFirst())
                continue
            }
            let string = takeString()
            let gap = rest.prefix { $0.isJSONSpace || $0 == UInt8(ascii: ":") }
            guard gap.contains(UInt8(ascii: ":")) else {
                shown += holdsSecret(string) ? mark[...] : string
                continue
            }
            shown += string
            guard isSecret(string) else { continue }
            shown += gap
            rest = rest.dropFirst(gap.count)
            skipValue()
            shown += mark
        }
    }

    private func isSecret(_ string: ArraySlice<UInt8>) -> Bool {
        let name = Self.content(of: string)
        let word = name.lowercased().filter { $0 != "_" && $0 != "-" }
        return names.contains(name.lowercased()) || Self.usual.contains(word) || word.hasSuffix("apikey")
    }

    /// Whether a value is a URL with secrets in it, as those are that storage signs. One with escapes that is cut off can't be read.
    private func holdsSecret(_ string: ArraySlice<UInt8>) -> Bool {
        let isURL = ["http", "ws"].contains { scheme in
            string.dropFirst().prefix(scheme.utf8.count).elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 })
        }
        guard isURL else { return false }
        let text = Self.content(of: string)
        return text.utf8.first == UInt8(ascii: "\"") || url(text) != text
    }

    /// What a string with its quotes says, which may be written with escapes; the string as it stands where they can't be read.
    private static func content(of string: ArraySlice<UInt8>) -> String {
        let quoted = String(decoding: string, as: UTF8.self)
        return string.contains(UInt8(ascii: "\\")) ? quoted.unescapedJSON : String(quoted.dropFirst().dropLast())
    }

    /// Without `_` and `-`. `code` and `key`, which are secret in items, rarely are in JSON.
    private static let usual = Set(URLText.secretWords.map { $0.replacing(" ", with: "") })

    /// A string with its quotes, or what there is of it.
    private mutating func takeString() -> ArraySlice<UInt8> {
        var place = rest.startIndex + 1
        while place < rest.endIndex, rest[place] != UInt8(ascii: "\"") {
            place += rest[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        let end = min(place + 1, rest.endIndex)
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    /// Leaves out a value: a string, a number or a word, or all that an object or an array holds.
    private mutating func skipValue() {
        var depth = 0
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "\""):
                _ = takeString()
                if depth == 0 { return }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
                if depth == 0 {
                    rest.removeFirst()
                    return
                }
            case UInt8(ascii: ",") where depth == 0: return
            case _ where depth == 0 && byte.isJSONSpace: return
            default: break
            }
            rest.removeFirst()
        }
    }
}

extension String {
    /// The content of a JSON string that is given with its quotes.
    fileprivate var unescapedJSON: String { (try? JSONDecoder().decode(String.self, from: Data(utf8))) ?? self }
}
