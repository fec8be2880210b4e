public import MidstreamCore

/// Writes what happened to each call, as text for people or as JSON for machines. Secrets are withheld.
///
/// ```swift
/// let log = CallLog(.bodies(upTo: 4_096), as: .json) { line in file.write(line) }
/// let client = HTTPClient(configuration: .init(observers: [log]))
/// ```
///
/// ``LoggingInterceptor`` writes a line for each call, too, wherever it stands in the pipeline; this sees what went on the wire.
///
/// In JSON each line is an object with these names, of which those without a value are left out. They don't change between versions:
///
/// | name | value |
/// | --- | --- |
/// | `ts` | when it began, as in RFC 3339, in milliseconds |
/// | `call` | the call's ``CallRecord/ID``; `request` is the ``HTTPRequest/id`` |
/// | `exchange`, `cause` | of an exchange: its number, and why it was made; in the line of a call `exchange` is missing |
/// | `exchanges` | of a call: how many there were |
/// | `purpose`, `serves` | of a call that is made for another: why, and for which |
/// | `attempt` | 1 is the first |
/// | `method`, `url`, `route` | of the request |
/// | `status` | of the response |
/// | `ms` | how long it took |
/// | `sent`, `bytes` | of an exchange: bytes of the bodies on the wire |
/// | `error`, `failure` | the kind of failure, and what happened in words |
/// | `cache` | of a call: `hit`, or why a cache asked the server (RFC 9211 §2.2) |
/// | `conn` | the connection's local port; `reused` is true if it stood before |
/// | `traceId` | the trace's identifier by the last `traceparent` that was sent; the call's ``CallRecord/ID`` where none was, within a trace too |
/// | `requestHeaders`, `responseHeaders`, `requestBody`, `responseBody` | of an exchange, as far as they are wanted |
public struct CallLog: CallObserver {
    /// How much is written.
    public enum Detail: Sendable, Hashable {
        /// A line for each call.
        case line
        /// Also each exchange with the header fields of both sides.
        case heads
        /// Also their bodies, if they are text: JSON, forms, XML and `text/…`, up to so many bytes of each. Of others only sizes are
        /// written. A streamed exchange is written when its body has ended.
        case bodies(upTo: Int)
    }

    /// What the lines look like.
    public enum Format: Sendable, Hashable {
        /// Text for people. Control characters are escaped, and no line of a body can be taken for one of the log.
        case text
        /// An object in each line.
        case json
    }

    private let detail: Detail
    private let format: Format
    private let redaction: Redaction?
    private let write: @Sendable (String) -> Void

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - detail: How much is written: `.line` by default.
    ///   - format: `.text` by default.
    ///   - redaction: What is withheld beside what always is; nil: as the client's configuration says.
    ///   - write: Takes one or more lines without the last line break, in the task of the call, which waits for it; by default they go to
    ///     standard error.
    public init(
        _ detail: Detail = .line, as format: Format = .text, redaction: Redaction? = nil,
        to write: (@Sendable (String) -> Void)? = nil
    ) {
        self.detail = detail
        self.format = format
        self.redaction = redaction
        self.write = write ?? LoggingInterceptor.writeToStandardError
    }

    /// As many bytes as are written.
    public var keepsBodies: Int { if case .bodies(let limit) = detail { max(0, limit) } else { 0 } }

    /// Writes an exchange, unless its body is still to be read.
    public func endedExchange(_ exchange: ExchangeRecord) {
        guard detail != .line, !(exchange.isBodyArriving && keepsBodies > 0) else { return }
        write(exchange)
    }

    /// Writes an exchange whose body was streamed.
    public func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        if keepsBodies > 0 { write(exchange) }
    }

    /// Writes the line of a call.
    public func endedCall(_ call: CallRecord) {
        let redaction = redaction ?? call.redaction
        switch format {
        case .text: write(call.line(redaction))
        case .json: write(call.json(redaction))
        }
    }

    private func write(_ exchange: ExchangeRecord) {
        let redaction = redaction ?? exchange.redaction
        switch format {
        case .text: write(exchange.lines(redaction, withBodies: keepsBodies > 0))
        case .json: write(exchange.json(redaction, withBodies: keepsBodies > 0))
        }
    }
}

extension CallObserver where Self == CallLog {
    /// A line on standard error for each call; see ``CallLog``.
    public static var log: CallLog { CallLog() }

    /// A log of each call; see ``CallLog``.
    public static func log(
        _ detail: CallLog.Detail, as format: CallLog.Format = .text, redaction: Redaction? = nil,
        to write: (@Sendable (String) -> Void)? = nil
    ) -> CallLog {
        CallLog(detail, as: format, redaction: redaction, to: write)
    }
}
