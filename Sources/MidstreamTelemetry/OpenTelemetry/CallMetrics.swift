public import Foundation
internal import Interception
public import MidstreamCore

/// Counts and measures the calls of clients as OpenTelemetry's conventions for HTTP clients have it.
///
/// ```swift
/// let metrics = CallMetrics()
/// let client = HTTPClient(configuration: .init(observers: [metrics]))
/// print(metrics.prometheus)
/// ```
///
/// | instrument | what it is |
/// | --- | --- |
/// | `http.client.request.duration` | seconds of an exchange, up to the head of a streamed response |
/// | `http.client.request.body.size`, `http.client.response.body.size` | bytes on the wire, where the transport measures them |
/// | `http.client.active_requests` | calls under way |
/// | `http.client.open_connections` | connections of each origin, by whether they are idle, when they were counted last; see ``countConnections(of:)`` |
/// | `midstream.retries` | attempts after the first that were decided on |
/// | `midstream.cache.lookups` | requests that a cache saw, failed ones and validations in the background among them, by what it did |
/// | `midstream.circuit.state` | what the last change in a call led to, of whichever breaker of a key: 0 closed, 1 half open, 2 open |
/// | `midstream.limit` | requests a concurrency limit allowed, by its key, when a failure lowered it last; what it has allowed since isn't told |
/// | `midstream.fleet.degraded` | decisions that a member of a fleet made by itself, by what was decided |
/// | `midstream.spans.dropped` | spans that an exporter has lost |
///
/// An instrument has 2,000 sets of attributes at most; what comes then is counted with `otel.metric.overflow`.
public final class CallMetrics: CallObserver {
    private struct State {
        var instruments: [Instrument: [AttributeList: Measurement]] = [:]
        var exchanges: [ExchangeKey: ExchangeMeasurements] = [:]
        var redirects = OpenRedirects()
        /// Those of them whose bodies have ended.
        var ended: [ExchangeRecord.ID: ExchangeRecord] = [:]
        /// Errors of redirects that don't know them, and whose bodies are still to end behind their calls.
        var errors: [ExchangeRecord.ID: String] = [:]
        var active: [(attributes: AttributeList, count: Measurement)] = []
        /// Where in `active` a key's are.
        var activePlaces: [ActiveKey: Int] = [:]
        /// Where in `active` the calls that are under way are counted.
        var underWay: [CallRecord.ID: Int] = [:]
    }

    /// What tells one set of an exchange's attributes from another: to compare these costs a fraction of making them.
    private struct ExchangeKey: Hashable {
        let method: HTTPMethod
        let origin: Substring
        let route: String?
        let status: HTTPStatus?
        let error: String?
        let version: HTTPVersion?

        init(_ exchange: ExchangeRecord, error unknown: String?) {
            method = exchange.method
            origin = ExchangeAttributes.origin(of: exchange.url)
            (route, status) = (exchange.route, exchange.status)
            (error, version) = (exchange.error ?? unknown, exchange.version)
        }

        /// That of all for which there is no room.
        private init() { (method, origin, route, status, error, version) = ("", "", nil, nil, nil, nil) }
        static let overflow = ExchangeKey()
    }

    /// The same of a call.
    private struct ActiveKey: Hashable {
        let method: HTTPMethod
        let origin: Substring

        static let overflow = ActiveKey(method: "", origin: "")
    }

    private struct ExchangeMeasurements {
        let attributes: AttributeList
        var duration = Measurement(.duration)
        var requestSize = Measurement(.requestSize)
        var responseSize = Measurement(.responseSize)

        mutating func addSizes(_ metrics: TransportMetrics?) {
            if let size = metrics?.requestBodyBytes { requestSize.add(Double(size)) }
            if let size = metrics?.responseBodyBytes { responseSize.add(Double(size)) }
        }
    }

    private static let maximumSets = 2_000
    private static let overflow: AttributeList = {
        var list = AttributeList()
        list.add("otel.metric.overflow", .boolean(true))
        return list
    }()

    private let state = Locked(State())
    private let beginning: Locked<Date>

    /// Makes an observer that has seen nothing.
    ///
    /// - Parameter now: Gives the time from which is counted; the system's by default.
    public init(now: @Sendable () -> Date = { Date() }) { beginning = Locked(now()) }

    /// The time from which is counted: where a clock has been set back behind it, the present, which for a collector is an unknown start.
    func start(at now: Date) -> Date {
        beginning.withLock { beginning in
            beginning = min(beginning, now)
            return beginning
        }
    }

    private func measure(_ instrument: Instrument, _ attributes: AttributeList, _ change: (inout Measurement) -> Void) {
        state.withLock { state in
            let key = Self.place(attributes, in: state.instruments[instrument, default: [:]])
            change(&state.instruments[instrument, default: [:]][key, default: Measurement(instrument)])
        }
    }

    /// The attributes under which these are measured: with all others when there is no room for them.
    private static func place(_ attributes: AttributeList, in sets: [AttributeList: Measurement]) -> AttributeList {
        sets[attributes] == nil && sets.count >= maximumSets ? overflow : attributes
    }

    private static func measure(
        _ exchange: ExchangeRecord, error: String?, _ state: inout State, _ change: (inout ExchangeMeasurements) -> Void
    ) {
        let key = ExchangeKey(exchange, error: error)
        if let place = state.exchanges.index(forKey: key) { return change(&state.exchanges.values[place]) }
        let isFull = state.exchanges.count >= maximumSets
        let attributes = isFull ? overflow : attributes(of: exchange, error: error)
        change(&state.exchanges[isFull ? ExchangeKey.overflow : key, default: ExchangeMeasurements(attributes: attributes)])
    }

    /// - Parameter error: What it doesn't know of itself.
    private static func measure(_ exchange: ExchangeRecord, error: String? = nil, _ state: inout State) {
        var whole: ExchangeRecord? = exchange
        if exchange.isBodyArriving {
            whole = state.ended.isEmpty ? nil : state.ended.removeValue(forKey: exchange.id)
            if whole == nil, let error { state.errors[exchange.id] = error }
        }
        measure(exchange, error: error, &state) { measured in
            measured.duration.add(exchange.duration / .seconds(1))
            measured.addSizes(whole?.metrics)
        }
    }

    /// The measurements in their order.
    func snapshot() -> [(Instrument, [(AttributeList, Measurement)])] {
        let (others, exchanges, active) = state.withLock { ($0.instruments, $0.exchanges.values, $0.active) }
        var instruments = others
        for (attributes, count) in active {
            instruments[.active, default: [:]][attributes, default: Measurement(.active)].add(count)
        }
        for exchange in exchanges {
            for (instrument, measured) in [
                (Instrument.duration, exchange.duration), (.requestSize, exchange.requestSize),
                (.responseSize, exchange.responseSize),
            ] where measured.count > 0 {
                // Keys that differ may have the same attributes, such as two methods that nobody knows.
                instruments[instrument, default: [:]][exchange.attributes, default: Measurement(instrument)].add(measured)
            }
        }
        return Instrument.allCases.compactMap { instrument in
            instruments[instrument].map { sets in (instrument, sets.map { ($0, $1) }) }
        }
    }

    /// Asks transports how many connections they have, in the place of what they had when this was called last. An exporter does so before it
    /// sends metrics. A connection that isn't known to be one origin's, such as one to a proxy, isn't counted.
    public func countConnections(of transports: [any HTTPTransport]) async {
        var origins: [String: TransportStatistics] = [:]
        for transport in transports { origins.merge(await transport.statistics.origins) { $0 + $1 } }
        var connections: [AttributeList: Measurement] = [:]
        // Always in the same order, so that the same ones overflow.
        for (name, counts) in origins.sorted(by: { $0.key < $1.key }) {
            guard let origin = HTTPOrigin(name) else { continue }
            for (state, count) in [
                ("active", counts.openConnections - counts.idleConnections), ("idle", counts.idleConnections),
            ] {
                var attributes = AttributeList()
                attributes.add("http.connection.state", state)
                attributes.add("server.address", origin.host)
                attributes.add("server.port", origin.port)
                let key = Self.place(attributes, in: connections)
                connections[key, default: Measurement(.connections)].add(Double(count))
            }
        }
        state.withLock { [connections] in $0.instruments[.connections] = connections.isEmpty ? nil : connections }
    }

    /// Counts it as active.
    public func began(_ call: CallRecord.Start) {
        let request = call.request
        let key = ActiveKey(method: request.method, origin: ExchangeAttributes.origin(of: request.urlText))
        state.withLock { state in
            let place = state.activePlaces[key] ?? Self.newPlace(of: key, request, &state)
            state.underWay[call.id] = place
            state.active[place].count.add(1)
        }
    }

    private static func newPlace(of key: ActiveKey, _ request: HTTPRequest, _ state: inout State) -> Int {
        let isFull = state.active.count >= maximumSets
        let used = isFull ? ActiveKey.overflow : key
        if let place = state.activePlaces[used] { return place }
        state.active.append((isFull ? overflow : attributes(of: request), Measurement(.active)))
        state.activePlaces[used] = state.active.count - 1
        return state.active.count - 1
    }

    private static func attributes(of request: HTTPRequest) -> AttributeList {
        let origin = HTTPOrigin(request.urlText)
        var attributes = AttributeList()
        attributes.add("http.request.method", ExchangeAttributes.method(request.method).0)
        attributes.add("server.address", origin?.host)
        attributes.add("server.port", origin?.port)
        return attributes
    }

    /// Counts retries, a cache's answers and local decisions, and the states of breakers and limits.
    public func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) {
        var attributes = AttributeList()
        switch event.name {
        case "retry": measure(.retries, attributes) { $0.add(1) }
        case "cache.outcome":
            let forward = if case .string(let reason)? = event.attributes["forward"] { reason } else { "none" }
            attributes.add("midstream.cache.outcome", event.attributes["hit"] == true ? "hit" : forward)
            measure(.lookups, attributes) { $0.add(1) }
        case "breaker.changed":
            if let key = event.attributes["key"] { attributes.add("midstream.key", key) }
            let state: Double = event.attributes["to"] == "open" ? 2 : event.attributes["to"] == "closed" ? 0 : 1
            measure(.circuit, attributes) { $0.set(state) }
        case "concurrency.lowered":
            guard let key = event.attributes["key"], case .integer(let limit)? = event.attributes["after"] else { return }
            attributes.add("midstream.key", key)
            measure(.limit, attributes) { $0.set(Double(limit)) }
        case "fleet.degraded":
            if let what = event.attributes["what"] { attributes.add("midstream.what", what) }
            measure(.degraded, attributes) { $0.add(1) }
        default: break
        }
    }

    /// Counts spans that an exporter has lost.
    func drop(_ count: Int) {
        if count > 0 { measure(.dropped, AttributeList()) { $0.add(Double(count)) } }
    }

    var dropped: Int { state.withLock { Int($0.instruments[.dropped]?[AttributeList()]?.sum ?? 0) } }

    /// Measures it; a redirect when it is followed or its call ends.
    public func endedExchange(_ exchange: ExchangeRecord) {
        state.withLock { state in
            let (followed, certain) = state.redirects.add(exchange)
            if let followed { Self.measure(followed, &state) }
            if let certain { Self.measure(certain, &state) }
        }
    }

    /// Measures its size, and that of the request, which isn't known before.
    public func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        state.withLock { state in
            if state.redirects.holds(exchange) { return state.ended[exchange.id] = exchange }
            let error = state.errors.isEmpty ? nil : state.errors.removeValue(forKey: exchange.id)
            guard let metrics = exchange.metrics else { return }
            Self.measure(exchange, error: error, &state) { $0.addSizes(metrics) }
        }
    }

    /// Counts it as active no more.
    public func endedCall(_ call: CallRecord) {
        state.withLock { state in
            if let place = state.underWay.removeValue(forKey: call.id) { state.active[place].count.add(-1) }
            guard let (redirect, error) = state.redirects.end(call) else { return }
            Self.measure(redirect, error: error, &state)
        }
    }

    private static func attributes(of exchange: ExchangeRecord, error: String?) -> AttributeList {
        let known = ExchangeAttributes(exchange, error: error)
        var attributes = AttributeList()
        attributes.add("http.request.method", known.method)
        attributes.add("server.address", known.address)
        attributes.add("server.port", known.port)
        attributes.add("url.template", known.template)
        attributes.add("error.type", known.error)
        attributes.add("http.response.status_code", known.status)
        attributes.add("network.protocol.version", known.version)
        return attributes
    }
}

enum Instrument: String, CaseIterable {
    case duration = "http.client.request.duration"
    case requestSize = "http.client.request.body.size"
    case responseSize = "http.client.response.body.size"
    case active = "http.client.active_requests"
    case connections = "http.client.open_connections"
    case retries = "midstream.retries"
    case lookups = "midstream.cache.lookups"
    case circuit = "midstream.circuit.state"
    case limit = "midstream.limit"
    case degraded = "midstream.fleet.degraded"
    case dropped = "midstream.spans.dropped"

    enum Kind { case histogram, counter, upDownCounter, gauge }

    var kind: Kind {
        switch self {
        case .duration, .requestSize, .responseSize: .histogram
        case .active, .connections: .upDownCounter
        case .retries, .lookups, .degraded, .dropped: .counter
        case .circuit, .limit: .gauge
        }
    }

    var unit: String {
        switch self {
        case .duration: "s"
        case .requestSize, .responseSize: "By"
        case .active: "{request}"
        case .connections: "{connection}"
        case .retries: "{retry}"
        case .lookups: "{lookup}"
        case .circuit: "{state}"
        case .limit: "{request}"
        case .degraded: "{decision}"
        case .dropped: "{span}"
        }
    }

    /// The upper bounds of a histogram's buckets.
    var bounds: [Double] {
        switch self {
        case .duration: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
        case .requestSize, .responseSize: [0, 1_024, 8_192, 65_536, 524_288, 4_194_304, 33_554_432, 268_435_456]
        default: []
        }
    }
}

/// What was measured with one set of attributes.
struct Measurement {
    private let bounds: [Double]
    /// Of a histogram: how many were in each bucket, the last of which has no bound.
    private(set) var counts: [UInt64]
    private(set) var count: UInt64 = 0
    /// Of all values; of a gauge the last one.
    private(set) var sum = 0.0

    init(_ instrument: Instrument) {
        bounds = instrument.bounds
        counts = bounds.isEmpty ? [] : Array(repeating: 0, count: bounds.count + 1)
    }

    mutating func add(_ value: Double) {
        count += 1
        sum += value
        if !counts.isEmpty { counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1 }
    }

    mutating func add(_ other: Measurement) {
        count += other.count
        sum += other.sum
        for place in counts.indices { counts[place] += other.counts[place] }
    }

    mutating func set(_ value: Double) { sum = value }
}
