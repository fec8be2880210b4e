internal import Interception

/// What belongs to one call and is shared by all its attempts.
package final class Call: Sendable {
    /// The call that the present task works for. An interceptor may pass on a request that it has made anew instead of the one it
    /// was given; that one still belongs to the call, though it doesn't know.
    @TaskLocal static var current: Call?

    package let client: HTTPClient
    /// Whether the call is made on behalf of another one that failed; then it may not ask for such a call itself.
    package let isAlternate: Bool
    let delivery: BodyDelivery
    package let pipeline: Pipeline
    /// The URL that was resolved and checked when the call began.
    package let checkedURL: String
    package let recorder: TraceRecorder?
    package let stopwatch: Stopwatch
    /// Bodies of this call that may still be arriving. One that a second exchange takes the place of is closed. Not kept alive,
    /// since a trace keeps the call and would keep their connections with it.
    private let openBodies: Locked<[OpenBody]>?

    private struct OpenBody: Sendable {
        weak var source: (any IncomingBody)?
    }

    init(client: HTTPClient, delivery: BodyDelivery, isAlternate: Bool, pipeline: Pipeline, checkedURL: String) {
        self.client = client
        self.delivery = delivery
        self.isAlternate = isAlternate
        self.pipeline = pipeline
        self.checkedURL = checkedURL
        recorder = client.configuration.recordsTrace ? TraceRecorder(pipeline: pipeline) : nil
        stopwatch = Stopwatch(on: client.configuration.clock)
        openBodies = delivery == .streamed ? Locked([]) : nil
    }

    func opened(_ body: HTTPBody) {
        guard let source = body.incoming else { return }
        openBodies?.withLock { $0.append(OpenBody(source: source)) }
    }

    func closeOpenBodies() {
        guard let openBodies else { return }
        let bodies = openBodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
        for body in bodies { body.source?.close() }
    }
}

extension HTTPRequest {
    /// The request as a part of the call that the present task works for, if it isn't a part of one.
    var withinCall: HTTPRequest {
        guard call == nil, let current = Call.current else { return self }
        var request = self
        request.call = current
        let timeout = timeout ?? current.client.configuration.timeout
        request.attemptEnd = timeout > .zero ? current.stopwatch.elapsed + timeout : nil
        return request
    }

    /// The request as part of the call that another one is part of, since a closure may have made it from nothing.
    func takingPlace(of other: HTTPRequest) -> HTTPRequest {
        var request = self
        request.id = other.id
        request.call = other.call
        request.attempt = other.attempt
        request.attemptEnd = other.attemptEnd
        request.noteAuthor = other.noteAuthor
        return request
    }
}
