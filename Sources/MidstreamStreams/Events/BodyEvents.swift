public import MidstreamCore

extension HTTPBody {
    /// The body as an event stream, while it arrives (WHATWG HTML §9.2). It is one connection's: see
    /// ``HTTPClient/events(_:silenceLimit:lineLimit:eventLimit:onReconnect:)`` for one that goes on when that breaks.
    ///
    /// An event that isn't finished when the body ends is dropped.
    ///
    /// - Parameters:
    ///   - lineLimit: How many bytes a line may have; nil, the default: as many as an event in one line needs. Past a limit reading fails with
    ///     ``HTTPError/Code/bodyTooLarge``.
    ///   - eventLimit: How many bytes an event's data may have, line ends included; 8 MiB by default.
    public func events(lineLimit: Int? = nil, eventLimit: Int = 8 << 20) -> ElementSequence<ServerSentEvent> {
        ElementSequence(BodyEvents(body: self, limits: EventLimits(line: lineLimit, event: eventLimit)))
    }
}

private struct BodyEvents: ElementSource {
    fileprivate let body: HTTPBody
    fileprivate let limits: EventLimits

    struct Iterator: ElementIterator {
        private let body: HTTPBody
        private var chunks: HTTPBody.AsyncIterator
        private var parser: EventParser
        private var isOver = false

        fileprivate init(_ events: BodyEvents) {
            body = events.body.fromStart
            chunks = body.makeAsyncIterator()
            parser = EventParser(limits: events.limits)
        }

        mutating func elementAtHand() throws -> ServerSentEvent? {
            guard !isOver else { return nil }
            do { return try parser.next() } catch {
                isOver = true
                body.close()
                throw error
            }
        }

        nonisolated(nonsending) mutating func next() async throws -> ServerSentEvent? {
            do {
                while !isOver {
                    if let event = try parser.next() { return event }
                    guard let chunk = try await chunks.next(isolation: #isolation) else { break }
                    parser.add(chunk)
                }
                isOver = true
                return nil
            } catch {
                isOver = true
                body.close()
                throw error
            }
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}
