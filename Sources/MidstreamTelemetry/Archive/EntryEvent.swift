internal import MidstreamCore

extension HAREntry.Event {
    /// - Parameter redaction: What is withheld; nil: nothing.
    init(_ event: CallEvent, at time: Duration, redaction: Redaction?) {
        name = event.name
        at = (time / .microseconds(1)).rounded() / 1_000
        let (told, parts) = (event.description, event.attributes.mapValues(\.inJSON))
        let shown = redaction?.event(told, parts) ?? (text: told, attributes: parts)
        text = shown.text
        attributes = shown.attributes.isEmpty ? nil : shown.attributes
    }

    /// - Parameter redaction: What is withheld; nil: nothing.
    init(_ event: Trace.Event, redaction: Redaction?) {
        self.init(
            CallEvent(event.name, event.text, event.attributes.mapValues { $0 }), at: event.start, redaction: redaction)
    }
}
