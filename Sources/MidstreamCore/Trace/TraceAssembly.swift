/// Makes a tree of readable spans out of what a recorder wrote down.
struct TraceAssembly {
    private let recording: TraceRecorder.Recording
    private var children: [Int32: [Int32]] = [:]
    /// Names marked sensitive anywhere in the call: a value was as secret before somebody said so.
    private let marked: Set<HTTPHeaders.Name>

    init(_ recording: TraceRecorder.Recording) {
        self.recording = recording
        marked = Set(
            recording.requests.all.flatMap(\.headers.sensitiveNames) + recording.responses.all.flatMap(\.headers.sensitiveNames))
        for (place, pass) in recording.passes.enumerated() { children[pass.parent, default: []].append(Int32(place)) }
    }

    var roots: [Trace.Span] { (children[-1] ?? []).map(span) }

    private func span(_ index: Int32) -> Trace.Span {
        let pass = recording.passes[Int(index)]
        let legend = recording.legend
        let element = legend.entries.indices.contains(Int(pass.element)) ? legend.entries[Int(pass.element)] : nil
        let inner = children[index] ?? []
        let request = recording.requests[pass.request]
        let response = recording.responses[pass.response]
        let passedOn = inner.first.flatMap { recording.requests[recording.passes[Int($0)].request] }
        let received = inner.last.flatMap { recording.responses[recording.passes[Int($0)].response] }
        return Trace.Span(
            name: element?.name ?? legend.transport,
            stage: element?.stage,
            scope: element?.scope ?? .client,
            attempt: passedOn?.attempt ?? request?.attempt ?? 1,
            startNanoseconds: pass.start - recording.start,
            nanoseconds: pass.end == 0 ? nil : pass.end - pass.start,
            request: request.map { "\($0.method) \(URLText.redacted($0.urlText))" } ?? "",
            requestChanges: request.flatMap { before in passedOn.map { $0.changes(since: before, secret: marked) } } ?? [],
            responseChanges: received.flatMap { before in response.map { $0.changes(since: before, secret: marked) } } ?? [],
            notes: recording.notes.filter { $0.pass == index }.map(\.text),
            status: response?.status.code,
            failure: pass.failure < 0 ? nil : recording.failures[Int(pass.failure)],
            children: inner.map(span))
    }
}
