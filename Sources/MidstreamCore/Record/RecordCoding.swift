internal import Foundation

extension CodingUserInfoKey {
    /// Set to `true` in `JSONEncoder.userInfo` to encode records with their secrets; without it they are withheld.
    public static let includesSecrets = CodingUserInfoKey.named("midstream.includesSecrets")

    private static func named(_ name: String) -> CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: name) else { preconditionFailure("every text makes a key") }
        return key
    }
}

extension Encoder {
    fileprivate var includesSecrets: Bool { userInfo[.includesSecrets] as? Bool == true }
}

extension CallRecord: Codable {
    /// Reads a record. Values that were withheld are the mark.
    public convenience init(from decoder: any Decoder) throws { self.init(try EncodedCall(from: decoder).contents) }

    /// Writes the record; times in seconds. Secrets are withheld unless ``Swift/CodingUserInfoKey/includesSecrets`` is set.
    public func encode(to encoder: any Encoder) throws {
        try EncodedCall(self, showing: encoder.includesSecrets ? nil : redaction).encode(to: encoder)
    }
}

extension ExchangeRecord: Codable {
    /// Reads a record. Values that were withheld are the mark.
    public convenience init(from decoder: any Decoder) throws {
        let encoded = try EncodedExchange(from: decoder)
        self.init(encoded.beginning, encoded.outcome)
    }

    /// Writes the record; times in seconds. Secrets are withheld unless ``Swift/CodingUserInfoKey/includesSecrets`` is set.
    public func encode(to encoder: any Encoder) throws {
        try EncodedExchange(self, showing: encoder.includesSecrets ? nil : redaction).encode(to: encoder)
    }
}

private struct EncodedCall: Codable {
    var id: CallRecord.ID
    var request: UUID
    var purpose: CallRecord.Purpose
    var serves: CallRecord.ID?
    var start: Date
    var duration: Double
    var method: String
    var url: String
    var route: String?
    var status: Int?
    var error: String?
    var failure: String?
    var exchanges: [EncodedExchange]
    var events: [Trace.Event]
    var spans: [Trace.Span]

    /// - Parameter redaction: Nil: secrets are included.
    init(_ call: CallRecord, showing redaction: Redaction?) {
        id = call.id
        request = call.requestID
        purpose = call.purpose
        serves = call.servedCall
        start = call.start
        duration = call.duration / .seconds(1)
        method = call.method.rawValue
        url = redaction?.url(call.url) ?? call.url
        route = call.route.map { redaction?.url($0) ?? $0 }
        status = call.status?.code
        error = call.error
        failure = call.failure
        exchanges = call.exchanges.map { EncodedExchange($0, showing: redaction) }
        events = call.events
        spans = call.spans
    }

    var contents: CallRecord.Contents {
        CallRecord.Contents(
            id: id, requestID: request, purpose: purpose, servedCall: serves, start: start, duration: .told(duration),
            method: HTTPMethod(rawValue: method), url: url, route: route, status: status.map { HTTPStatus($0) }, error: error,
            failure: failure, exchanges: exchanges.map { ExchangeRecord($0.beginning, $0.outcome) }, events: events,
            source: RecordSource(Redaction()),
            decodedSpans: spans)
    }
}

extension Duration {
    /// The seconds that a record names, a century of them at most: there is no duration for every number that may stand in a file.
    fileprivate static func told(_ seconds: Double) -> Duration {
        let most: Double = longest / .seconds(1)
        // In this order what is no number is the least.
        return .seconds(seconds > -most ? (seconds < most ? seconds : most) : -most)
    }
}

private struct EncodedExchange: Codable {
    var call: CallRecord.ID
    var number: Int
    var attempt: Int
    var cause: String
    var date: Date
    var start: Double
    var duration: Double
    var headDuration: Double?
    var method: String
    var url: String
    var route: String?
    var requestHeaders: [EncodedField]
    var requestBody: EncodedBody?
    var status: Int?
    var version: String?
    var responseHeaders: [EncodedField]?
    var responseBody: EncodedBody?
    var metrics: EncodedMetrics?
    var error: String?
    var phase: String?
    var failure: String?
    var isBodyArriving: Bool?

    init(_ exchange: ExchangeRecord, showing redaction: Redaction?) {
        call = exchange.call
        number = exchange.number
        attempt = exchange.attempt
        cause = exchange.cause
        date = exchange.date
        start = exchange.start / .seconds(1)
        duration = exchange.duration / .seconds(1)
        headDuration = exchange.outcome.headDuration.map { $0 / .seconds(1) }
        method = exchange.method.rawValue
        url = redaction?.url(exchange.url) ?? exchange.url
        route = exchange.route.map { redaction?.url($0) ?? $0 }
        requestHeaders = EncodedField.fields(exchange.requestHeaders, showing: redaction)
        requestBody = exchange.requestBody.map { EncodedBody($0, exchange.requestHeaders[.contentType], showing: redaction) }
        status = exchange.status?.code
        version = exchange.version?.rawValue
        responseHeaders = exchange.responseHeaders.map { EncodedField.fields($0, showing: redaction) }
        responseBody = exchange.responseBody.map {
            EncodedBody($0, exchange.responseHeaders?[.contentType], showing: redaction)
        }
        metrics = exchange.metrics.map { EncodedMetrics($0, showing: redaction) }
        error = exchange.error
        phase = exchange.phase?.rawValue
        failure = exchange.failure
        isBodyArriving = exchange.isBodyArriving ? true : nil
    }

    var beginning: ExchangeRecord.Beginning {
        ExchangeRecord.Beginning(
            id: ExchangeRecord.ID(call: call, number: number), attempt: attempt, cause: cause, date: date,
            start: .told(start), method: HTTPMethod(rawValue: method), url: url, route: route,
            requestHeaders: EncodedField.headers(requestHeaders), source: RecordSource(Redaction()))
    }

    var outcome: ExchangeRecord.Outcome {
        ExchangeRecord.Outcome(
            duration: .told(duration), headDuration: headDuration.map { .told($0) }, requestBody: requestBody?.body,
            status: status.map { HTTPStatus($0) }, version: version.flatMap { HTTPVersion(rawValue: $0) },
            responseHeaders: responseHeaders.map(EncodedField.headers), responseBody: responseBody?.body,
            metrics: metrics?.metrics, error: error, phase: phase.flatMap { HTTPError.Phase(rawValue: $0) }, failure: failure,
            isBodyArriving: isBodyArriving == true)
    }
}

/// A header field.
private struct EncodedField: Codable {
    var name: String
    var value: String
    /// Whether its value is secret although its name isn't known for that.
    var isSensitive: Bool?

    static func fields(_ headers: HTTPHeaders, showing redaction: Redaction?) -> [EncodedField] {
        headers.map { name, value in
            EncodedField(
                name: name.rawValue, value: redaction?.value(value, of: name, in: headers) ?? value,
                isSensitive: headers.isSensitive(name) && !name.isSensitive ? true : nil)
        }
    }

    static func headers(_ fields: [EncodedField]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in fields {
            headers.add(HTTPHeaders.Name(field.name), field.value)
            if field.isSensitive == true { headers.markSensitive(HTTPHeaders.Name(field.name)) }
        }
        return headers
    }
}

/// A body: as text where secrets in it can be found, and otherwise in Base64 only where secrets are included.
private struct EncodedBody: Codable {
    var text: String?
    var base64: Data?
    var size: Int64
    /// Whether it didn't pass to its end.
    var isCut: Bool?

    init(_ body: ExchangeRecord.Body, _ contentType: String?, showing redaction: Redaction?) {
        size = body.size
        isCut = body.hasEnded ? nil : true
        if let redaction { text = redaction.text(body.bytes, contentType: contentType) } else { base64 = Data(body.bytes) }
    }

    var body: ExchangeRecord.Body {
        ExchangeRecord.Body(bytes: base64.map { Array($0) } ?? Array((text ?? "").utf8), size: size, hasEnded: isCut != true)
    }
}

private struct EncodedMetrics: Codable {
    var times: [String: Double] = [:]
    var addresses: [String: String] = [:]
    var counts: [String: Int64] = [:]
    var isReusedConnection: Bool?
    var isResumedSession: Bool?
    var interim: [Interim]

    struct Interim: Codable {
        var status: Int
        var headers: [EncodedField]
    }

    private static let durations: [(String, any WritableKeyPath<TransportMetrics, Duration?> & Sendable)] = [
        ("nameLookup", \.nameLookup), ("connect", \.connect), ("tlsHandshake", \.tlsHandshake), ("sendStart", \.sendStart),
        ("firstByte", \.firstByte), ("total", \.total), ("connectStart", \.connectStart),
    ]
    private static let texts: [(String, any WritableKeyPath<TransportMetrics, String?> & Sendable)] = [
        ("remoteAddress", \.remoteAddress), ("localAddress", \.localAddress), ("tlsVersion", \.tlsVersion),
    ]
    private static let integers: [(String, any WritableKeyPath<TransportMetrics, Int?> & Sendable)] = [
        ("remotePort", \.remotePort), ("localPort", \.localPort), ("connection", \.connection), ("resends", \.resends),
    ]
    private static let sizes: [(String, any WritableKeyPath<TransportMetrics, Int64?> & Sendable)] = [
        ("bytesSent", \.bytesSent), ("bytesReceived", \.bytesReceived), ("requestBodyBytes", \.requestBodyBytes),
        ("responseBodyBytes", \.responseBodyBytes),
    ]

    init(_ metrics: TransportMetrics, showing redaction: Redaction?) {
        for (name, path) in Self.durations { times[name] = metrics[keyPath: path].map { $0 / .seconds(1) } }
        for (name, path) in Self.texts { addresses[name] = metrics[keyPath: path] }
        for (name, path) in Self.integers { counts[name] = metrics[keyPath: path].map { Int64($0) } }
        for (name, path) in Self.sizes { counts[name] = metrics[keyPath: path] }
        isReusedConnection = metrics.isReusedConnection
        isResumedSession = metrics.isResumedSession
        interim = metrics.interim.map {
            Interim(status: $0.status.code, headers: EncodedField.fields($0.headers, showing: redaction))
        }
    }

    var metrics: TransportMetrics {
        var metrics = TransportMetrics()
        for (name, path) in Self.durations { metrics[keyPath: path] = times[name].map { .told($0) } }
        for (name, path) in Self.texts { metrics[keyPath: path] = addresses[name] }
        for (name, path) in Self.integers { metrics[keyPath: path] = counts[name].map { Int(clamping: $0) } }
        for (name, path) in Self.sizes { metrics[keyPath: path] = counts[name] }
        metrics.isReusedConnection = isReusedConnection
        metrics.isResumedSession = isResumedSession
        metrics.interim = interim.map {
            InterimResponse(status: HTTPStatus($0.status), headers: EncodedField.headers($0.headers))
        }
        return metrics
    }
}
