/// One step on the way into a JSON document.
package enum JSONStep: Sendable, Equatable {
    case key(String)
    case index(Int)

    package init(_ key: any CodingKey) { self = key.intValue.map { .index($0) } ?? .key(key.stringValue) }
}

extension [JSONStep] {
    /// The steps as they are written in a message: `data.items[0]["display-name"]`.
    package var text: String {
        var text = ""
        for step in self {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let key):
                let isPlain = !key.isEmpty && key.utf8.allSatisfy { $0.isTokenCharacter && $0 != UInt8(ascii: ".") }
                text += isPlain ? (text.isEmpty ? key : ".\(key)") : "[\(key.debugDescription)]"
            }
        }
        return text.isEmpty ? "the root" : text
    }
}
