internal import Interception

/// Makes the record of one exchange.
final class ExchangeObservation: Sendable {
    private let contents: ExchangeRecord.Contents
    private let call: CallObservation
    private let requestBody: KeptBody?

    /// - Parameter body: That of the request, which is read through this if it is to be kept and isn't in memory.
    init(_ contents: ExchangeRecord.Contents, of call: CallObservation, keeping body: inout HTTPBody) {
        self.contents = contents
        self.call = call
        let limit = call.settings.keepsBodies
        requestBody = limit > 0 ? KeptBody(upTo: limit) : nil
        guard let requestBody, !body.isNone else { return }
        guard body.bytes == nil else {
            requestBody.add(body.bytes ?? [])
            return
        }
        body = body.observed {
            // A body that is read again is kept as it was read last.
            requestBody.clear()
            return HTTPBody.Observer(onChunk: { requestBody.add($0) })
        }
    }

    /// The response has come. Of a body that is arriving the end is reported later.
    func end(_ response: inout HTTPResponse) {
        var ended = ended(response.metrics)
        ended.status = response.status
        ended.version = response.version
        ended.responseHeaders = response.headers
        let limit = call.settings.keepsBodies
        let body = limit > 0 ? KeptBody(upTo: limit) : nil
        if let bytes = response.body.bytes {
            body?.add(bytes)
            ended.responseBody = body?.contents
            return call.ended(ExchangeRecord(ended))
        }
        ended.isBodyArriving = true
        call.ended(ExchangeRecord(ended))
        ended.isBodyArriving = false
        response.body = response.body.observed { [ended, self] in
            HTTPBody.Observer(onChunk: { body?.add($0) }, onEnd: { self.ended($0, body, of: ended) })
        }
    }

    private func ended(_ end: HTTPBody.End, _ body: KeptBody?, of head: ExchangeRecord.Contents) {
        var ended = head
        ended.duration = call.elapsed - ended.start
        ended.requestBody = requestBody?.contents
        ended.responseBody = body?.contents
        switch end {
        case .complete(_, let metrics): ended.metrics = metrics ?? ended.metrics
        case .failed(let error): ended.fail(error)
        case .closed, .released: break
        }
        call.ended(end, of: ExchangeRecord(ended))
    }

    /// The transport has thrown.
    func end(throwing error: any Error) {
        let failure = error as? HTTPError
        var ended = ended(failure?.metrics)
        ended.status = failure?.response?.status
        ended.version = failure?.response?.version
        ended.responseHeaders = failure?.response?.headers
        ended.fail(error)
        call.ended(ExchangeRecord(ended))
    }

    /// The exchange when nobody waits for it any longer.
    var abandoned: ExchangeRecord {
        var ended = ended(nil)
        ended.fail(CancellationError())
        return ExchangeRecord(ended)
    }

    private func ended(_ metrics: TransportMetrics?) -> ExchangeRecord.Contents {
        var ended = contents
        ended.duration = call.elapsed - contents.start
        ended.metrics = metrics
        ended.requestBody = requestBody?.contents
        return ended
    }
}

extension ExchangeRecord.Contents {
    fileprivate mutating func fail(_ failure: any Error) {
        error = failure.kind
        self.failure = TraceRecorder.text(of: failure)
    }
}

/// The first bytes of a body that passes.
private final class KeptBody: Sendable {
    private let limit: Int
    private let body = Locked(ExchangeRecord.Body(bytes: [], size: 0))

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

    func clear() { body.withLock { $0 = ExchangeRecord.Body(bytes: [], size: 0) } }

    var contents: ExchangeRecord.Body { body.withLock { $0 } }
}
