internal import Foundation
internal import MidstreamCore

extension HAREntry.Event {
    /// - Parameter redaction: What is withheld; nil: nothing.
    init(_ event: CallEvent, at time: Duration, redaction: Redaction?) {
        self.init(event.name, event.description, event.attributes, at: time, redaction)
    }

    /// - Parameter redaction: What is withheld; nil: nothing.
    init(_ event: Trace.Event, redaction: Redaction?) {
        self.init(event.name, event.text, event.attributes, at: event.start, redaction)
    }

    private init(
        _ name: String, _ text: String, _ attributes: [String: EventValue], at time: Duration, _ redaction: Redaction?
    ) {
        self.name = name
        at = (time / .microseconds(1)).rounded() / 1_000
        // JSON has no other numbers.
        let attributes = attributes.mapValues { value -> EventValue in
            if case .number(let number) = value, !number.isFinite { .string("\(number)") } else { value }
        }
        let shown = redaction?.event(text, attributes) ?? (text: text, attributes: attributes)
        self.text = shown.text
        self.attributes = shown.attributes.isEmpty ? nil : shown.attributes
    }
}

extension Redaction {
    /// An event without what this redaction alone knows for a secret: whoever records one leaves out what is always withheld.
    fileprivate func event(
        _ text: String, _ attributes: [String: EventValue]
    ) -> (text: String, attributes: [String: EventValue]) {
        guard !attributes.isEmpty else { return (text, attributes) }
        var (text, attributes) = (text, fields(attributes))
        for case (let name, .string(let value)) in attributes where value.contains("://") {
            let shown = url(value)
            guard shown != value else { continue }
            attributes[name] = .string(shown)
            text = text.replacing(value, with: shown)
        }
        return (text, attributes)
    }

    /// By their names, as in a body.
    private func fields(_ attributes: [String: EventValue]) -> [String: EventValue] {
        var object = JSONObject()
        object.append(membersOf: attributes)
        let whole = object.data()
        guard let shown = self.text(whole, contentType: "application/json"), !shown.utf8.elementsEqual(whole) else {
            return attributes
        }
        return (try? JSONDecoder().decode([String: EventValue].self, from: Data(shown.utf8))) ?? [:]
    }
}

extension JSONObject {
    /// The attributes of an event, in the order of their names.
    mutating func append(membersOf attributes: [String: EventValue]) {
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
