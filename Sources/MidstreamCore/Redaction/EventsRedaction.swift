/// Withholds what is secret in the events of a stream (WHATWG HTML §9.2.6), whose data is of any form. All else stays to the byte.
struct EventsRedaction {
    private struct Line {
        /// The field's name, and what divides it from the value.
        let start: ArraySlice<UInt8>
        var value: ArraySlice<UInt8>
        let end: ArraySlice<UInt8>
        let isData: Bool
        /// Whether it may be a field or a comment; nobody reads any other.
        let isField: Bool

        /// Takes the first line of a text.
        init(of text: inout ArraySlice<UInt8>) {
            let content = text.prefix { $0 != 10 && $0 != 13 }
            text = text.dropFirst(content.count)
            end = text.prefix(text.starts(with: [13, 10]) ? 2 : 1)
            text = text.dropFirst(end.count)
            let name = content.prefix { $0 != UInt8(ascii: ":") }
            isData = name.elementsEqual("data".utf8)
            isField = name.allSatisfy { ASCIISet.unreserved.contains($0) }
            let hasSpace = content.dropFirst(name.count + 1).first == UInt8(ascii: " ")
            start = isField ? content.prefix(name.count + (hasSpace ? 2 : 1)) : []
            value = content.dropFirst(start.count)
        }

        var isBlank: Bool { start.isEmpty && value.isEmpty }
    }

    private let mark: ArraySlice<UInt8>
    /// Withholds what is secret in a value.
    private let redact: (String) -> String
    /// Those of an event that isn't over.
    private var lines: [Line] = []
    private var shown: [UInt8] = []

    /// - Parameter redact: Withholds what is secret in a value.
    static func redacted(_ text: String, mark: String, _ redact: @escaping (String) -> String) -> String {
        var work = Self(mark: Array(mark.utf8)[...], redact: redact)
        var rest = Array(text.utf8)[...]
        // A byte order mark is no part of the first name.
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) {
            work.shown += rest.prefix(3)
            rest = rest.dropFirst(3)
        }
        while !rest.isEmpty {
            let line = Line(of: &rest)
            work.lines.append(line)
            if line.isBlank { work.endEvent() }
        }
        work.endEvent()
        return String(decoding: work.shown, as: UTF8.self)
    }

    private init(mark: ArraySlice<UInt8>, redact: @escaping (String) -> String) {
        (self.mark, self.redact) = (mark, redact)
    }

    private mutating func endEvent() {
        let places = lines.indices.filter { lines[$0].isData }
        for (place, value) in zip(places, redacted(places.map { lines[$0].value })) { lines[place].value = value }
        for line in lines {
            shown += line.start
            shown += line.isData ? line.value : line.isField ? redacted([line.value])[0] : mark
            shown += line.end
        }
        lines = []
    }

    /// Values that belong together, as JSON that is written over several lines of data. Where a secret takes more than one of them, none is
    /// shown.
    private func redacted(_ values: [ArraySlice<UInt8>]) -> [ArraySlice<UInt8>] {
        let text = String(decoding: Array(values.joined(separator: [10])), as: UTF8.self)
        let shown = Array(redact(text).utf8).split(separator: 10, omittingEmptySubsequences: false)
        return shown.count == values.count ? shown : values.map { _ in mark }
    }
}
