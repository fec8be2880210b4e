public import Foundation
internal import Interception
public import MidstreamCore
internal import MidstreamObservability

/// Sends spans and metrics of calls to a collector, or writes them to a file, as OpenTelemetry's protocol has them in JSON.
///
/// ```swift
/// let telemetry = try OpenTelemetryExporter(to: .collector("http://localhost:4318", over: transport), service: "shop")
/// let client = HTTPClient(configuration: .init(observers: [telemetry]), transport: transport) { .traceparent }
/// // … at the end of the process:
/// await telemetry.flush()
/// ```
///
/// Each exchange on the wire is a span of kind CLIENT, retries and redirects included; what a cache answers makes none. The span ends with
/// the response, whose body is part of it unless it is streamed: then it ends with the head. With ``TraceParentInterceptor`` in the
/// pipeline it is the span that the server continues, unless the request has a `traceparent` itself: that is its parent.
/// Names and attributes are those of the conventions for HTTP clients, version 1.44.0.
///
/// Calls don't wait: up to 2,048 spans are kept, and sent in batches of 512 or after 5 s. What there is no room for, and what is left when
/// the exporter is released, is counted in ``dropped`` and in its ``metrics``. An export is repeated after 429, 502, 503, 504 and failed
/// connections, not sooner than the collector says, of which up to 5 minutes are waited; and never after it has taken a part. Redirects
/// aren't followed: what isn't answered by 2xx is dropped. Secrets are withheld, in URLs as `REDACTED`.
public final class OpenTelemetryExporter: CallObserver {
    /// Where telemetry goes.
    public enum Destination: Sendable {
        /// A collector's URL, to which `/v1/traces` and `/v1/metrics` are added.
        case collector(String, headers: HTTPHeaders = [:], over: any HTTPTransport)
        /// A file, which gets a document in JSON in each line. It is made for its owner alone, or continued; several processes may write to it.
        case file(String)
    }

    /// Why there is no exporter.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The file can't be written.
        case file(String)

        /// What is wrong, in words.
        public var description: String {
            switch self {
            case .file(let path): "can't write the file \(path)"
            }
        }
    }

    /// What becomes a span.
    public enum Spans: Sendable, Hashable {
        /// Each exchange.
        case exchanges
        /// Also each call: a span of kind INTERNAL with the call's events, around those of its exchanges.
        case exchangesAndCalls
    }

    private enum Item: Sendable {
        /// With the error that only its call knows of.
        case exchange(ExchangeRecord, Span.Context, error: String? = nil)
        case call(CallRecord, Span.Context)
    }

    private struct State {
        var contexts: [CallRecord.ID: Span.Context] = [:]
        var redirects = OpenRedirects()
        var queue: [Item] = []
        /// For which there was no room.
        var lost = 0
        var rejected = 0
        /// Why the last export of a kind failed.
        var failures: [TelemetryKind: String] = [:]
        /// The task that waits for a batch; nil: there is none.
        var wake: Suspension<Void>?
        var lastExport: Task<Void, Never>?

        mutating func keep(_ item: Item) {
            if queue.count < OpenTelemetryExporter.maximumQueue { queue.append(item) } else { lost += 1 }
        }

        mutating func take() -> [Item] {
            let items = Array(queue.prefix(OpenTelemetryExporter.batch))
            queue.removeFirst(items.count)
            return items
        }
    }

    private static let maximumQueue = 2_048
    static let batch = 512
    private static let batchInterval = Duration.seconds(5)

    private let state = Locked(State())
    private let sink: any TelemetrySink
    private let resource: JSONObject
    private let detail: Span.Detail
    private let ratio: Double
    private let timer: ClockTimer
    private let now: @Sendable () -> Date
    private let metricsInterval: Duration
    private let transports: [any HTTPTransport]
    /// What it measures; also to be asked for ``CallMetrics/prometheus``.
    public let metrics: CallMetrics

    /// Makes an exporter.
    ///
    /// - Parameters:
    ///   - destination: Where telemetry goes.
    ///   - service: The name of the service that makes the calls, as `service.name`.
    ///   - attributes: Further attributes of the resource, such as `service.version`. Where there is no `service.instance.id`, each exporter
    ///     has a random one.
    ///   - spans: `.exchanges` by default.
    ///   - headers: Names of header fields that become attributes of spans; none by default.
    ///   - ratio: Which part of the traces that begin with a call is sent, 0…1; 1 by default. ``TraceParentInterceptor`` tells servers which.
    ///     A trace that began before is sent if its parent says so.
    ///   - metricsInterval: How often metrics are sent while calls are made; 60 s by default.
    ///   - connectionsOf: Transports whose connections are counted as `http.client.open_connections` before metrics are sent; none by default.
    ///   - redaction: What is withheld beside what always is; nil: what each client's configuration says.
    ///   - clock: What time passes on; the real one by default.
    ///   - now: The time of metrics; the system's by default.
    /// - Throws: ``Failure/file(_:)`` for a file that can't be opened.
    public convenience init(
        to destination: Destination, service: String, attributes: [String: String] = [:], spans: Spans = .exchanges,
        headers: [HTTPHeaders.Name] = [], ratio: Double = 1, metricsInterval: Duration = .seconds(60),
        connectionsOf transports: [any HTTPTransport] = [], redaction: Redaction? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        let sink: any TelemetrySink
        switch destination {
        case .collector(let url, let fields, let transport):
            let targets = TelemetryKind.allCases.map {
                ($0, CollectorTarget(url: url, path: "v1/\($0.rawValue)", headers: fields))
            }
            sink = CollectorSink(Dictionary(uniqueKeysWithValues: targets), transport: transport, clock: clock)
        case .file(let path): sink = try FileSink(path)
        }
        self.init(
            sink, service: service, attributes: attributes, spans: spans, headers: headers, ratio: ratio,
            metricsInterval: metricsInterval, connectionsOf: transports, redaction: redaction, clock: clock, now: now)
    }

    init(
        _ sink: any TelemetrySink, service: String, attributes: [String: String], spans: Spans = .exchanges,
        headers: [HTTPHeaders.Name] = [], ratio: Double, metricsInterval: Duration,
        connectionsOf transports: [any HTTPTransport] = [], redaction: Redaction? = nil,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.sink = sink
        detail = Span.Detail(redaction: redaction, headers: headers, hasCalls: spans == .exchangesAndCalls)
        self.ratio = ratio
        self.metricsInterval = metricsInterval
        self.transports = transports
        self.now = now
        timer = ClockTimer(clock)
        metrics = CallMetrics(now: now)
        var list = AttributeList()
        list.add("service.name", service)
        list.add("telemetry.sdk.name", "midstream")
        list.add("telemetry.sdk.language", "swift")
        // Metrics add up from a start of their own, so each series has one writer: replicas, and exporters of one process, are told apart.
        let given = attributes.merging(["service.instance.id": UUID().uuidString.lowercased()]) { given, _ in given }
        for (name, value) in given.sorted(by: { $0.key < $1.key }) where name != "service.name" { list.add(name, value) }
        var resource = JSONObject()
        resource.add(list)
        self.resource = resource
    }

    /// What is left is dropped, and counted in ``metrics``, which may outlive the exporter.
    deinit { metrics.drop(state.withLock { $0.queue.count + $0.redirects.count }) }

    /// How many spans were lost, since there was no room for them or they couldn't be sent. It is one of the ``metrics``, too.
    public var dropped: Int { metrics.dropped }
    /// How many spans, and data points of metrics, the collector refused when it took the rest.
    public var rejected: Int { state.withLock { $0.rejected } }
    /// Why the last export of spans failed, or was refused in part, or else the last one of metrics; nil: neither was.
    public var failure: String? { state.withLock { $0.failures[.traces] ?? $0.failures[.metrics] } }

    /// Sends what there is, metrics included. Returns when that is done, or when the time is over; the rest goes on then. It is done in a task
    /// that is cancelled as well, as it may be at the end of a program.
    ///
    /// - Returns: Whether that is done, with or without success: see ``failure``.
    @discardableResult
    public func flush(within limit: Duration = .seconds(10)) async -> Bool {
        let export = startExport(withMetrics: true)
        let done = Suspension<Void>()
        Task {
            await export.value
            done.resume(())
        }
        return await done.value(within: limit, on: timer) != nil
    }

    // MARK: Observing

    /// Finds its place in the distributed trace.
    public func began(_ call: CallRecord.Start) {
        metrics.began(call)
        let headers = call.request.headers
        let parent =
            TraceParent(headers["traceparent"], state: headers["tracestate"]) ?? call.request.traceParent ?? TraceParent.current
        let context = Span.Context(call: call.id, parent: parent)
        guard (parent?.isSampled ?? samples(call.id)) == true else { return }
        state.withLock { $0.contexts[call.id] = context }
    }

    /// Counts it.
    public func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) {
        metrics.happened(event, at: time, in: call)
    }

    /// Keeps it for the next batch.
    public func endedExchange(_ exchange: ExchangeRecord) {
        metrics.endedExchange(exchange)
        add { state in
            guard let context = state.contexts[exchange.call] else { return }
            let (followed, certain) = state.redirects.add(exchange)
            if let followed { state.keep(.exchange(followed, context)) }
            if let certain { state.keep(.exchange(certain, context)) }
        }
    }

    /// Measures it.
    public func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) { metrics.endedBody(end, of: exchange) }

    /// Keeps it for the next batch, if calls are spans.
    public func endedCall(_ call: CallRecord) {
        metrics.endedCall(call)
        add { state in
            guard let context = state.contexts.removeValue(forKey: call.id) else { return }
            if let (redirect, error) = state.redirects.end(call) { state.keep(.exchange(redirect, context, error: error)) }
            if detail.hasCalls { state.keep(.call(call, context)) }
        }
    }

    private func add(_ change: (inout State) -> Void) {
        let (wakes, starts, lost) = state.withLock { state -> (Suspension<Void>?, Bool, Int) in
            change(&state)
            defer { state.lost = 0 }
            guard state.wake != nil else {
                state.wake = Suspension()
                return (state.wake, true, state.lost)
            }
            return (state.queue.count >= Self.batch ? state.wake : nil, false, state.lost)
        }
        metrics.drop(lost)
        if starts, let wakes {
            let find: @Sendable () -> OpenTelemetryExporter? = { [weak self] in self }
            Task.detached { [timer, metricsInterval] in await Self.work(find, wakes, timer, metricsInterval) }
        } else {
            wakes?.resume(())
        }
    }

    // MARK: Exporting

    /// Exports after each wait, until a while has passed in which there was nothing.
    private static func work(
        _ find: @Sendable () -> OpenTelemetryExporter?, _ first: Suspension<Void>, _ timer: ClockTimer, _ metrics: Duration
    ) async {
        var (wake, stopwatch) = (first, Stopwatch(on: timer.clock))
        while true {
            // Over in time or with a full batch.
            _ = await wake.wait(for: batchInterval, on: timer)
            guard let exporter = find() else { return }
            let isDue = stopwatch.elapsed >= metrics
            if isDue { stopwatch = stopwatch.restarted() }
            let next = exporter.state.withLock { state -> Suspension<Void>? in
                let isIdle = isDue && state.queue.isEmpty
                state.wake = isIdle ? nil : Suspension()
                return state.wake
            }
            await exporter.startExport(withMetrics: isDue).value
            guard let next else { return }
            wake = next
        }
    }

    /// Begins an export behind the one that is under way.
    private func startExport(withMetrics: Bool) -> Task<Void, Never> {
        state.withLock { state in
            let previous = state.lastExport
            // Not a part of the call within which it may be begun: what is sent is of all calls.
            let export = Task.detached {
                await previous?.value
                await self.export(withMetrics: withMetrics)
            }
            state.lastExport = export
            return export
        }
    }

    private func export(withMetrics: Bool) async {
        // What comes meanwhile waits for its own batch: where calls are always made, metrics would never have their turn.
        for _ in stride(from: 0, to: state.withLock { $0.queue.count }, by: Self.batch) {
            let items = state.withLock { $0.take() }
            let document = TelemetryKind.traces.document(resource, of: items.count) { document in
                for item in items {
                    document.separate()
                    switch item {
                    case .exchange(let exchange, let context, let error):
                        document.append(client: exchange, context, detail, error: error)
                    case .call(let call, let context): document.append(internal: call, context, detail)
                    }
                }
            }
            await send(document, count: items.count, kind: .traces)
        }
        guard withMetrics else { return }
        if !transports.isEmpty { await metrics.countConnections(of: transports) }
        guard case let measured = metrics.json(at: now()), !measured.isEmpty else { return }
        let document = TelemetryKind.metrics.document(resource, of: measured.count) { document in
            for metric in measured {
                document.separate()
                document.append(raw: metric)
            }
        }
        await send(document, count: 0, kind: .metrics)
    }

    private func send(_ document: [UInt8], count: Int, kind: TelemetryKind) async {
        var failure: String?
        var rejected = 0
        do {
            if let refusal = try await sink.send(document, kind) {
                rejected = refusal.count
                failure =
                    "the collector refused \(refusal.count) of the \(kind.parts)" + (refusal.message.map { ": \($0)" } ?? "")
            }
        } catch {
            metrics.drop(count)
            failure = error is HTTPError ? "\(error)" : cause(ofFile: error)
        }
        state.withLock { [failure, rejected] state in
            state.rejected.addRefused(rejected)
            state.failures[kind] = failure
        }
    }
}

extension OpenTelemetryExporter: TraceSampler {
    /// As many as the ratio says.
    package func samples(_ trace: CallRecord.ID) -> Bool? {
        guard ratio < 1 else { return true }
        // The 56 bits that are random in every identifier of a trace.
        return Double(trace.low & (1 << 56 - 1)) < ratio * Double(UInt64(1) << 56)
    }
}
