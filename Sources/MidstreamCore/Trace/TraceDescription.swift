extension Trace: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The call as a tree: a line for each pass with its start and duration, indented by stage, and under it what it changed, said
    /// and brought.
    public var description: String { description(of: spans) }

    /// The same, as somebody shows it who has a redaction of their own.
    package func description(by redaction: Redaction) -> String { description(of: spans(by: redaction)) }

    private func description(of spans: [Span]) -> String {
        guard let first = spans.first else { return "nothing was recorded" }
        var lines = [first.request + first.outcome]
        for span in spans { Self.write(span, to: &lines, depth: 0, within: nil) }
        if droppedSpans > 0 { lines.append("… and \(droppedSpans) passes more, which were not kept") }
        return lines.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows, and neither the interceptors nor the call, which know secrets.
    public var customMirror: Mirror { Mirror(self, children: ["trace": description]) }

    private static func write(_ span: Span, to lines: inout [String], depth: Int, within parent: Span?) {
        var depth = depth
        if span.stage != parent?.stage {
            depth += parent == nil ? 0 : 1
            if let stage = span.stage {
                let number = stage == .attempt ? " \(span.attempt)" : ""
                lines.append(indented("\(stage)\(number)", by: depth))
            }
        }
        let time =
            "\(milliseconds(span.startNanoseconds).padded(8)) \((span.nanoseconds.map(milliseconds) ?? "running").padded(8))"
        var line = indented("\(time)  \(span.name)", by: depth)
        if span.scope == .request { line += " (of the request)" }
        if span.isConcurrent { line += span.cameUp ? " (beside others; its answer came up)" : " (beside others)" }
        if span.isOriginOfOutcome { line += span.outcome }
        lines.append(line)
        let details = span.requestChanges + span.notes.map { "· \($0)" } + span.responseChanges.map { "← \($0)" }
        for detail in details { lines.append(indented(String(repeating: " ", count: 21) + detail, by: depth)) }
        for child in span.children { write(child, to: &lines, depth: depth, within: span) }
    }

    private static func indented(_ text: String, by depth: Int) -> String { String(repeating: "  ", count: depth) + text }

    private static func milliseconds(_ nanoseconds: UInt64) -> String {
        let microseconds = nanoseconds / 1_000
        let fraction = String(microseconds % 1_000)
        return "\(microseconds / 1_000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}

extension Trace.Span {
    /// Whether its outcome isn't just what came from further in, which a reader would not want to see again on each level.
    fileprivate var isOriginOfOutcome: Bool {
        guard let inner = children.last(where: \.cameUp) ?? children.last else { return true }
        return failure != inner.failure || status != inner.status
    }

    fileprivate var outcome: String {
        if let failure { return " ✗ \(failure)" }
        return status.map { " → \(HTTPStatus($0))" } ?? (nanoseconds == nil ? " still running" : "")
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
