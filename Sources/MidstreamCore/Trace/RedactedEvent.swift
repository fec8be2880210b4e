internal import Foundation

extension Redaction {
    /// An event without what this redaction alone knows for a secret, by the names of its attributes and in URLs: whoever records one leaves out
    /// what is always withheld.
    package func event(
        _ text: String, _ attributes: [String: EventValue]
    ) -> (text: String, attributes: [String: EventValue]) {
        guard !attributes.isEmpty else { return (ownText(text), attributes) }
        var (text, attributes) = (ownText(text), fields(attributes))
        for case (let name, .string(let value)) in attributes where value.utf8.contains("://".utf8) {
            // It may be a sentence with several URLs, or one with what would end it in a sentence.
            let told = ownText(value)
            let shown = url(told)
            guard shown != value else { continue }
            attributes[name] = .string(shown)
            text = text.replacing(scalarsOf: told, with: shown)
        }
        return (text, attributes)
    }

    /// An event as it may be told.
    ///
    /// - Parameter text: Its description, perhaps with the name of who speaks.
    func own(_ event: CallEvent, _ text: String) -> CallEvent {
        guard !queryItems.isEmpty || !jsonFields.isEmpty else { return event.saying(text) }
        let shown = self.event(text, event.attributes)
        return CallEvent(event.name, shown.text, shown.attributes.mapValues { $0 })
    }

    /// By their names, as in a body.
    private func fields(_ attributes: [String: EventValue]) -> [String: EventValue] {
        var object = JSONObject()
        object.append(membersOf: attributes.mapValues(\.inJSON))
        let whole = String(decoding: object.data(), as: UTF8.self)
        // Of a URL only what is secret is withheld, afterwards.
        let shown = JSONRedaction.redacted(whole, names: jsonFields, mark: mark, url: { $0 })
        guard shown != whole else { return attributes }
        guard let decoded = try? JSONDecoder().decode([String: EventValue].self, from: Data(shown.utf8)) else { return [:] }
        return attributes.merging(decoded.filter { $0.value == .string(mark) }) { $1 }
    }
}

extension JSONObject {
    /// The attributes of an event, in the order of their names.
    package mutating func append(membersOf attributes: [String: EventValue]) {
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            begin(quoted: name)
            switch value {
            case .string(let text): append(quoted: text)
            case .integer(let number): append(number)
            case .number(let number): append(number)
            case .boolean(let flag): append(raw: flag ? "true" : "false")
            }
        }
    }
}
