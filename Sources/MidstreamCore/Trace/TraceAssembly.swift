/// Makes a tree of spans of a recording.
struct TraceAssembly {
    private let recording: TraceRecorder.Recording
    private let redaction: Redaction
    private var children: [Int32: [Int32]] = [:]
    /// Names marked sensitive anywhere in the call: their values were secret before, too.
    private let marked: Set<HTTPHeaders.Name>

    /// - Parameter redaction: Nil: that of the client.
    init(_ recording: TraceRecorder.Recording, _ redaction: Redaction? = nil) {
        self.recording = recording
        self.redaction = redaction ?? recording.legend.redaction
        marked = Set(
            recording.requests.all.flatMap(\.headers.sensitiveNames) + recording.responses.all.flatMap(\.headers.sensitiveNames))
        for (place, pass) in recording.passes.enumerated() { children[pass.parent, default: []].append(Int32(place)) }
    }

    var roots: [Trace.Span] { spans(below: -1, cameUp: children[-1]?.last) }

    private func spans(below parent: Int32, cameUp: Int32?) -> [Trace.Span] {
        let siblings = children[parent] ?? []
        return siblings.map { index in
            let isConcurrent = siblings.contains { $0 != index && overlap(pass($0), pass(index)) }
            return span(index, isConcurrent: isConcurrent, cameUp: index == cameUp)
        }
    }

    private func pass(_ index: Int32) -> TraceRecorder.Pass { recording.passes[Int(index)] }

    private func overlap(_ a: TraceRecorder.Pass, _ b: TraceRecorder.Pass) -> Bool {
        (b.end == 0 || a.start < b.end) && (a.end == 0 || b.start < a.end)
    }

    /// The inner pass whose response was handed back.
    private func answer(among inner: [Int32], for response: ResponseSnapshot?) -> Int32? {
        guard inner.count > 1, let response else { return inner.last }
        return inner.last { recording.responses[pass($0).response] == response } ?? inner.last
    }

    private func span(_ index: Int32, isConcurrent: Bool, cameUp: Bool) -> Trace.Span {
        let pass = pass(index)
        let pipeline = recording.legend.pipeline
        let element = pipeline.entries.indices.contains(Int(pass.element)) ? pipeline.entries[Int(pass.element)] : nil
        let inner = children[index] ?? []
        let request = recording.requests[pass.request]
        let response = recording.responses[pass.response]
        let passedOn = inner.first.flatMap { recording.requests[recording.passes[Int($0)].request] }
        let remarks = recording.remarks.filter { $0.pass == index }
        let answer = answer(among: inner, for: response)
        let received = answer.flatMap { recording.responses[recording.passes[Int($0)].response] }
        return Trace.Span(
            name: element?.name ?? pipeline.transport,
            stage: element?.stage,
            scope: element?.scope ?? .client,
            attempt: passedOn?.attempt ?? request?.attempt ?? 1,
            startNanoseconds: pass.start - recording.start,
            nanoseconds: pass.end == 0 ? nil : pass.end - pass.start,
            request: request.map { redaction.line($0.method, $0.urlText) } ?? "",
            requestChanges: request.flatMap { before in passedOn.map { $0.changes(since: before, secret: marked, redaction) } }
                ?? [],
            responseChanges: received.flatMap { before in response.map { $0.changes(since: before, secret: marked, redaction) } }
                ?? [],
            notes: remarks.map { $0.shown(by: redaction).escapingControls },
            events: remarks.compactMap { Trace.Event($0, of: recording, by: redaction) },
            status: response?.status.code,
            failure: pass.failure < 0 ? nil : redaction.ownText(recording.failures[Int(pass.failure)]),
            children: spans(below: index, cameUp: answer), isConcurrent: isConcurrent, cameUp: cameUp)
    }
}
