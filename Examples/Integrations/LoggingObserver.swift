import Logging
import Midstream

/// Writes calls to swift-log: at `debug` those that succeed, at `info` those that fail, each exchange at `trace`.
///
/// The message is constant and all else is metadata, so that lines can be counted. Nothing is above `info`: a library can't know which
/// failure matters to the program.
struct LoggingObserver: CallObserver {
    /// Where lines go; nil: to the logger of the task.
    var logger: Logger?

    func endedExchange(_ exchange: ExchangeRecord) {
        (logger ?? .current).log(level: .trace, "HTTP exchange", metadata: Self.metadata(of: exchange))
    }

    func endedCall(_ call: CallRecord) {
        (logger ?? .current).log(level: call.error == nil ? .debug : .info, "HTTP call", metadata: Self.metadata(of: call))
    }

    private static func metadata(of call: CallRecord) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "http.call": "\(call.id)", "http.method": "\(call.method)", "http.url": "\(call.redaction.url(call.url))",
            "http.duration": "\(call.duration)", "http.exchanges": "\(call.exchanges.count)",
        ]
        metadata["http.route"] = call.route.map { "\($0)" }
        metadata["http.status"] = call.status.map { "\($0.code)" }
        metadata["http.error"] = call.error.map { "\($0)" }
        metadata["http.failure"] = call.failure.map { "\($0)" }
        return metadata
    }

    private static func metadata(of exchange: ExchangeRecord) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "http.call": "\(exchange.call)", "http.exchange": "\(exchange.number)", "http.cause": "\(exchange.cause)",
            "http.method": "\(exchange.method)", "http.url": "\(exchange.redaction.url(exchange.url))",
            "http.duration": "\(exchange.duration)",
        ]
        metadata["http.status"] = exchange.status.map { "\($0.code)" }
        metadata["http.error"] = exchange.error.map { "\($0)" }
        return metadata
    }
}
