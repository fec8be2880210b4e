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
        let attributes = attributes.mapValues(\.inJSON)
        let shown = redaction?.event(text, attributes) ?? (text: text, attributes: attributes)
        self.text = shown.text
        self.attributes = shown.attributes.isEmpty ? nil : shown.attributes
    }
}
