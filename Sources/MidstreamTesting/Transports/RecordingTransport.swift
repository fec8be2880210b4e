internal import Foundation
internal import Interception
public import MidstreamCore
public import MidstreamTelemetry

/// A transport that passes everything on to another one and remembers what went through.
///
/// Copies share the log. Any number of tasks may send at once. What it keeps, it keeps unredacted, bodies in memory included.
public struct RecordingTransport: HTTPTransport {
    /// What was sent and what came of it.
    public struct Exchange: Sendable {
        /// The request.
        public let request: HTTPRequest
        /// The response with its head and body as the transport returned it, or the error. A body that was still arriving isn't
        /// kept, since it can be read only once; it is empty here.
        public let result: Result<HTTPResponse, any Error>
        /// When it was sent, counted from the making of the recorder.
        public let start: Duration
        /// How long it took until the transport returned, which for a streamed response is its head.
        public let duration: Duration
        let isBodyArriving: Bool
    }

    private let base: any HTTPTransport
    private let stopwatch: Stopwatch
    private let redaction: Redaction
    private let log = Locked([Exchange]())

    /// Wraps a transport.
    ///
    /// - Parameters:
    ///   - clock: What times are measured by; the real one by default.
    ///   - redaction: What ``archive`` withholds beside what always is: that of the client (``HTTPClient/Configuration/redaction``), which a
    ///     transport doesn't know. Nothing by default.
    public init(
        _ base: any HTTPTransport, clock: any Clock<Duration> = ContinuousClock(), redaction: Redaction = Redaction()
    ) {
        self.base = base
        stopwatch = Stopwatch(on: clock)
        self.redaction = redaction
    }

    /// The wrapped transport's.
    public var identity: RequestIdentity { base.identity }

    /// The base transport's.
    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    public var executor: (any TaskExecutor)? { base.executor }

    /// The base transport's.
    public var statistics: TransportStatistics {
        get async { await base.statistics }
    }

    /// Asks the base transport.
    public func prepare(_ url: String, connections: Int) async throws { try await base.prepare(url, connections: connections) }

    /// The exchanges so far, in the order in which they ended.
    public var exchanges: [Exchange] { log.withLock { $0 } }

    /// The exchanges so far as an archive, to be saved and to be played by `ReplayTransport`; secrets are withheld, those of a client's own
    /// redaction where the transport was made with it. Dates are counted from now back. A body that was still arriving isn't there: when it is
    /// played, reading it fails with `notRecorded`.
    public var archive: HARArchive {
        let began = Date() - stopwatch.elapsed / .seconds(1)
        return HARArchive(
            exchanges.map { exchange in
                ExchangeRecord(
                    of: exchange.request, exchange.result, at: began + exchange.start / .seconds(1), start: exchange.start,
                    duration: exchange.duration, isBodyArriving: exchange.isBodyArriving)
            }, redaction: redaction)
    }

    /// Sends the request by the wrapped transport.
    ///
    /// - Throws: What that throws.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request, ExchangeOptions()) }
}

extension RecordingTransport: ExchangeTransport {
    package var keepsTime: Bool { (base as? any ExchangeTransport)?.keepsTime ?? false }

    package var remark: String? { (base as? any ExchangeTransport)?.remark }

    /// Sends the request by the wrapped transport, with what the client wants of it.
    package func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
        let start = stopwatch.elapsed
        do {
            let response =
                if let base = base as? any ExchangeTransport {
                    try await base.send(request, options)
                } else {
                    try await base.send(request)
                }
            keep(request, .success(response), since: start)
            return response
        } catch {
            keep(request, .failure(error), since: start)
            throw error
        }
    }

    private func keep(_ request: HTTPRequest, _ result: Result<HTTPResponse, any Error>, since start: Duration) {
        let duration = stopwatch.elapsed - start
        var (result, isBodyArriving) = (result, false)
        if case .success(var response) = result, response.body.incoming != nil {
            // It is its reader's, and so is a connection to another protocol.
            response.body = .empty
            response.writer = nil
            result = .success(response)
            isBodyArriving = true
        }
        let exchange = Exchange(
            request: request, result: result, start: start, duration: duration, isBodyArriving: isBodyArriving)
        log.withLock { $0.append(exchange) }
    }
}
