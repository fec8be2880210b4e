public import MidstreamCore

extension HTTPClient {
    /// The events of a server, over as many connections as it takes (WHATWG HTML §9.2).
    ///
    /// ```swift
    /// for try await event in client.events(HTTPRequest("stream")) { print(event.name, event.data) }
    /// ```
    ///
    /// Nothing is sent before the first event is read. Each connection is a call of its own, by ``stream(_:)``: with its interceptors,
    /// retries and redirects; the attempt's timeout counts to the head. It asks with `Accept: text/event-stream`,
    /// `Cache-Control: no-store` and, behind an event with an identifier, `Last-Event-ID`; fields of these names that the request has stay,
    /// a `Last-Event-ID` until the first identifier comes. An identifier with control characters, which no field can carry, isn't sent.
    ///
    /// When a connection ends or breaks, can't be made, by a proxy either, is refused by a breaker, limit or quota of the client, has no token
    /// since nobody answers who refreshes it, or is answered with 408, 429, 500, 502, 503 or 504, another follows. Before it passes a random
    /// part (full jitter) of 3 s, or the time that the server asks for by `retry`, up to a minute, and a random part of half as much more. The
    /// longest wait grows, by doubling, with each connection that brings no event and lasts for less than 10 s, up to a minute; after a 429 or
    /// 503 at least its `Retry-After` passes, up to ``Configuration/maximumRetryAfter``. It is never below 100 ms, and the least that it is a
    /// part of doubles with each connection that ends within a second, up to 3 s. A 204 ends the sequence. Any other status or media type ends
    /// it with an error, and so does a transport that has been closed.
    ///
    /// A request that isn't safe, such as a `POST`, is sent once: the end of its answer is that of the sequence, and a failure is thrown.
    /// With ``HTTPRequest/allowsUnsafeRetry`` it is treated as a `GET`.
    ///
    /// A deadline, of the request or the client, covers all of it, from the first connection on; with
    /// ``HTTPRequest/deadlineCoversBody`` set to false, only the head of each. That of a call within which the events are read ends them as
    /// well. One that an interceptor sets is that of one connection, after which another follows.
    ///
    /// The body is read as fast as the events are. Cancelling the task that reads, and leaving the loop, close the connection.
    ///
    /// - Parameters:
    ///   - request: What to ask.
    ///   - silenceLimit: How long a connection may bring nothing, comments included, before it is taken for dead and replaced, in place of the
    ///     transport's own limit (`TransportConfiguration.idleTimeout`), which holds by default. Measured on the client's clock.
    ///   - lineLimit: How many bytes a line may have; nil, the default: as many as an event in one line needs.
    ///   - eventLimit: How many bytes an event's data may have, line ends included; 8 MiB by default.
    ///   - onReconnect: Called before each wait for another connection, in the task that reads: with the number of connections since the
    ///     last event, or the last one that lasted for 10 s, the next one included (1, 2 …); how long the wait is; and what ended the last one, nil when the server did so
    ///     in an orderly way.
    public func events(
        _ request: HTTPRequest, silenceLimit: Duration? = nil, lineLimit: Int? = nil, eventLimit: Int = 8 << 20,
        onReconnect: @escaping @Sendable (_ attempt: Int, _ delay: Duration, _ cause: HTTPError?) -> Void = { _, _, _ in }
    ) -> ElementSequence<ServerSentEvent> {
        ElementSequence(
            EventSource(
                client: self, request: request, silenceLimit: silenceLimit,
                limits: EventLimits(line: lineLimit, event: eventLimit), onReconnect: onReconnect))
    }
}

private struct EventSource: ElementSource {
    let client: HTTPClient
    let request: HTTPRequest
    let silenceLimit: Duration?
    let limits: EventLimits
    let onReconnect: @Sendable (_ attempt: Int, _ delay: Duration, _ cause: HTTPError?) -> Void

    /// Reads the events. Each iterator has connections of its own.
    struct Iterator: ElementIterator {
        private let source: EventSource
        private var parser: EventParser
        private var pace = ReconnectionPace()
        /// Those of the present connection; nil between two.
        private var chunks: TimedChunks?
        /// Since the last connection was begun, or answered.
        private var lifetime: Stopwatch
        /// Since the first was; nil before it.
        private var age: Stopwatch?
        /// How long all of it may take; nil: no limit.
        private let deadline: Duration?
        private var isOver = false

        fileprivate init(_ source: EventSource) {
            self.source = source
            lifetime = source.client.stopwatch
            let (request, configuration) = (source.request, source.client.configuration)
            deadline = request.deadlineCoversBody == false ? nil : request.deadline ?? configuration.deadline
            parser = EventParser(lastEventID: source.request.headers["Last-Event-ID"] ?? "", limits: source.limits)
        }

        /// The next event; nil when the server has ended the stream by a 204, and after an error.
        ///
        /// - Throws: What ``HTTPClient/stream(_:)`` throws, unless another connection may help; for a rejected status with the
        ///   response. ``HTTPError/Code/decoding`` for an answer that is no event stream, with the response, whose body is still to be read,
        ///   ``HTTPError/Code/bodyTooLarge`` past a limit. `CancellationError`.
        nonisolated(nonsending) mutating func next() async throws -> ServerSentEvent? {
            do {
                while !isOver {
                    if var event = try parser.next() {
                        pace.reset()
                        event.decoder = source.request.decoder ?? source.client.configuration.decoder
                        return event
                    }
                    if let chunks { try await read(chunks) } else { try await connect() }
                }
                return nil
            } catch {
                let failure = completed(error)
                isOver = true
                disconnect()
                throw failure
            }
        }

        /// An error with what isn't known where it arose: the request, and the deadline of all connections.
        private func completed(_ error: any Error) -> any Error {
            guard var error = error as? HTTPError else { return error }
            error.request = error.request ?? chunks?.request ?? source.request
            if error.code == .deadlineExceeded, let deadline, !mayPass(error) { error = error.pastDeadline(deadline) }
            return error
        }

        nonisolated(nonsending) private mutating func connect() async throws {
            lifetime = lifetime.restarted()
            let age = age ?? lifetime
            self.age = age
            var request = source.request(after: parser.lastEventID)
            if let deadline { (request.deadline, request.deadlineCoversBody) = (deadline - age.elapsed, true) }
            do {
                let response = try await source.client.stream(request)
                try accept(response)
            } catch let error as HTTPError where source.reconnects && mayPass(error) {
                error.lastResponse?.body.close()
                try await wait(because: error, asked: source.client.waitAsked(by: error))
            }
        }

        private mutating func accept(_ response: HTTPResponse) throws {
            if response.status == .noContent {
                response.body.close()
                isOver = true
                return
            }
            guard response.status == .ok else { throw HTTPError.unacceptableStatus(response) }
            guard response.isEventStream else {
                let type = response.headers[.contentType].map { "of the type \($0.debugDescription)" } ?? "without a type"
                throw HTTPError(
                    .decoding, "The answer is \(type) and no text/event-stream.", request: response.request, response: response,
                    phase: .answered)
            }
            lifetime = lifetime.restarted()
            chunks = TimedChunks(of: response, within: source.silenceLimit, on: source.client.configuration.clock)
        }

        nonisolated(nonsending) private mutating func read(_ chunks: TimedChunks) async throws {
            var cause: HTTPError?
            do {
                if let chunk = try await chunks.next() { return parser.add(chunk) }
            } catch let error as HTTPError where source.reconnects && mayPass(error) {
                cause = error
            }
            disconnect()
            guard source.reconnects else {
                isOver = true
                return
            }
            // A quiet one is as good as any, such as where a balancer ends each after a minute.
            if lifetime.elapsed >= .seconds(10) { pace.reset() }
            try await wait(because: cause, asked: nil)
        }

        /// Whether a failure needn't befall another connection as well. An interceptor may give each of them a deadline of its own.
        private func mayPass(_ error: HTTPError) -> Bool {
            guard error.code == .deadlineExceeded else { return error.mayPassOnAnotherConnection }
            guard let deadline, let age else { return true }
            return age.elapsed < deadline
        }

        private mutating func disconnect() {
            chunks?.close()
            chunks = nil
            parser.startOver()
        }

        nonisolated(nonsending) private mutating func wait(because cause: HTTPError?, asked: Duration?) async throws {
            let configuration = source.client.configuration
            let own = pace.delay(afterRetry: parser.retry, lifetime: lifetime.elapsed, random: source.client.random)
            let delay = Swift.max(own, asked ?? .zero)
            if let deadline, let age, age.elapsed + delay >= deadline { throw HTTPError.pastDeadline(deadline, phase: .answered) }
            if let overdue = source.client.overdue(after: delay) { throw overdue }
            source.onReconnect(pace.attempts, delay, cause)
            try await configuration.clock.pause(for: delay)
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}

extension EventSource {
    fileprivate var reconnects: Bool { request.method.isSafe || request.allowsUnsafeRetry }

    /// The request of another connection.
    fileprivate func request(after lastEventID: String) -> HTTPRequest {
        var request = request.asNewCall()
        if !request.headers.contains(.accept) { request.headers[.accept] = "text/event-stream" }
        if !request.headers.contains(.cacheControl) { request.headers[.cacheControl] = "no-store" }
        // No field can carry a control character (RFC 9110 §5.5); asking from the beginning is better than not at all.
        let isSendable = !lastEventID.isEmpty && !lastEventID.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
        request.headers["Last-Event-ID"] = isSendable ? lastEventID : nil
        if reconnects { request.needsServersAnswer = true }
        if silenceLimit != nil { request.limitsSilenceItself = true }
        return request
    }
}

extension HTTPResponse {
    /// Where the type comes more than once, the last one that is a type counts, as in browsers (Fetch, "extract a MIME type").
    fileprivate var isEventStream: Bool {
        let types = headers.members(of: .contentType)
        guard let type = types.last(where: { $0.utf8.contains(UInt8(ascii: "/")) && !$0.hasPrefix("*/*") }) else { return false }
        let essence = type.utf8.prefix { $0 != UInt8(ascii: ";") }.trimmed
        return String(Substring(essence)).equalsIgnoringASCIICase("text/event-stream")
    }
}
