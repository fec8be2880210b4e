internal import Interception

/// Makes the record of one exchange.
struct ExchangeObservation: Sendable {
    let beginning: ExchangeRecord.Beginning
    private let call: CallObservation
    private let hasRequestBody: Bool
    private let requestBody: KeptBody?

    /// - Parameter body: That of the request, which is read through this if it is to be kept and isn't in memory.
    init(_ beginning: ExchangeRecord.Beginning, of call: CallObservation, keeping body: inout HTTPBody) {
        self.beginning = beginning
        self.call = call
        let limit = call.settings.keepsBodies
        let hasBody = body.bytes?.isEmpty != true
        let requestBody = limit > 0 && hasBody ? KeptBody(upTo: limit) : nil
        (hasRequestBody, self.requestBody) = (hasBody, requestBody)
        guard let requestBody else { return }
        if let bytes = body.bytes {
            requestBody.keep(all: bytes)
            return
        }
        body = body.observed {
            // A body that is read again is kept as it was read last.
            requestBody.clear()
            return HTTPBody.Observer(
                onChunk: { requestBody.add($0) }, onEnd: { if case .complete = $0 { requestBody.end() } })
        }
    }

    /// The response has come. Of a body that is arriving the end is reported later.
    ///
    /// - Parameter cause: Gives what stands behind an error that the reading of such a body ends with.
    func end(_ response: inout HTTPResponse, causeOf cause: @autoclosure () -> @Sendable (any Error) -> any Error) {
        var outcome = outcome(response.metrics)
        outcome.status = response.status
        outcome.version = response.version
        outcome.responseHeaders = response.headers
        // What another protocol carries isn't redacted by the rules for bodies, and would grow as long as that goes on.
        let limit = response.status.code == 101 ? 0 : call.settings.keepsBodies
        let body = limit > 0 ? KeptBody(upTo: limit) : nil
        if let bytes = response.body.bytes {
            body?.keep(all: bytes)
            outcome.responseBody = bytes.isEmpty ? .empty : body?.contents
            call.ended(ExchangeRecord(beginning, outcome))
            return
        }
        outcome.isBodyArriving = true
        guard call.ended(ExchangeRecord(beginning, outcome)) else { return }
        outcome.isBodyArriving = false
        response.body = response.body.observed { [outcome, cause = cause()] in
            HTTPBody.Observer(
                onChunk: { body?.add($0) },
                onEnd: { end in
                    var end = end
                    if case .failed(let error) = end { end = .failed(cause(error)) }
                    self.ended(end, body, after: outcome)
                })
        }
    }

    private func ended(_ end: HTTPBody.End, _ body: KeptBody?, after head: ExchangeRecord.Outcome) {
        var outcome = head
        outcome.headDuration = head.duration
        outcome.duration = call.elapsed - beginning.start
        switch end {
        case .complete(_, let metrics):
            body?.end()
            outcome.metrics = metrics ?? outcome.metrics
        case .failed(let error):
            outcome.metrics = (error as? HTTPError)?.metrics ?? outcome.metrics
            outcome.fail(error)
        case .closed, .released: break
        }
        outcome.requestBody = keptOfRequest
        outcome.responseBody = body?.contents
        call.ended(end, of: ExchangeRecord(beginning, outcome))
    }

    /// The transport has thrown.
    func end(throwing error: any Error) {
        let failure = error as? HTTPError
        var outcome = outcome(failure?.metrics)
        outcome.status = failure?.response?.status
        outcome.version = failure?.response?.version
        outcome.responseHeaders = failure?.response?.headers
        outcome.fail(error)
        call.ended(ExchangeRecord(beginning, outcome))
    }

    /// The exchange when nobody waits for it any longer.
    var abandoned: ExchangeRecord {
        var outcome = outcome(nil)
        outcome.fail(CancellationError())
        return ExchangeRecord(beginning, outcome)
    }

    private func outcome(_ metrics: TransportMetrics?) -> ExchangeRecord.Outcome {
        ExchangeRecord.Outcome(
            duration: call.elapsed - beginning.start, requestBody: keptOfRequest, metrics: metrics)
    }

    /// Where there is no body that is known, whatever is kept.
    private var keptOfRequest: ExchangeRecord.Body? { hasRequestBody ? requestBody?.contents : .empty }
}

extension ExchangeRecord.Outcome {
    mutating func fail(_ failure: any Error) {
        error = failure.kind
        phase = (failure as? HTTPError)?.phase
        self.failure = TraceRecorder.text(of: failure)
    }
}

/// The first bytes of a body that passes.
private final class KeptBody: Sendable {
    private let limit: Int
    private let body = Locked(ExchangeRecord.Body(bytes: [], size: 0, hasEnded: false))

    init(upTo limit: Int) { self.limit = limit }

    func add(_ chunk: [UInt8]) {
        body.withLock { body in
            body.size += Int64(chunk.count)
            if body.bytes.isEmpty, chunk.count <= limit {
                body.bytes = chunk
            } else {
                body.bytes += chunk.prefix(limit - body.bytes.count)
            }
        }
    }

    func keep(all bytes: [UInt8]) {
        add(bytes)
        end()
    }

    /// Nothing more comes.
    func end() { body.withLock { $0.hasEnded = true } }

    func clear() { body.withLock { $0 = ExchangeRecord.Body(bytes: [], size: 0, hasEnded: false) } }

    var contents: ExchangeRecord.Body { body.withLock { $0 } }
}
