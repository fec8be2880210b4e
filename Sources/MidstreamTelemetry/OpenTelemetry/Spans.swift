internal import Foundation
internal import MidstreamCore
internal import MidstreamObservability

/// What spans are made with.
enum Span {
    /// The place of a call's spans in a distributed trace.
    struct Context: Sendable {
        /// The identifier of the trace, unless it has a parent, and in its last half that of the call's span.
        let call: CallRecord.ID
        /// The span around the call.
        let parent: TraceParent?
    }

    /// What of requests and responses is shown.
    struct Detail: Sendable {
        /// Nil: that of each client.
        var redaction: Redaction?
        /// Names of header fields that become attributes.
        var headers: [HTTPHeaders.Name]
        var hasCalls: Bool

        /// With the mark of the conventions.
        func redaction(of client: Redaction) -> Redaction {
            var redaction = redaction ?? client
            redaction.mark = "REDACTED"
            return redaction
        }
    }
}

/// Spans as OTLP has them in JSON, written where they stand in a document, since a batch has hundreds.
extension JSONObject {
    /// A span of kind CLIENT for an exchange.
    ///
    /// - Parameter error: What it doesn't know of itself.
    mutating func append(client exchange: ExchangeRecord, _ context: Span.Context, _ detail: Span.Detail, error: String?) {
        let known = ExchangeAttributes(exchange, error: error)
        let sent = TraceParent(exchange.requestHeaders["traceparent"], state: exchange.requestHeaders["tracestate"])
        append { span in
            // A field that the request had itself names its parent.
            if let sent, sent.spanID != context.parent?.spanID {
                span.add("traceId", sent.traceID)
                span.add("spanId", sent.spanID)
            } else {
                span.addTrace(of: context)
                span.add("spanId", hexadecimal: Self.spanID(of: exchange.id))
            }
            span.add("traceState", sent?.state)
            if detail.hasCalls {
                span.add("parentSpanId", hexadecimal: context.call.low)
            } else {
                span.add("parentSpanId", context.parent?.spanID)
            }
            span.add("name", ExchangeAttributes.spanName(known.method, known.template))
            span.add("kind", 3)
            span.addTimes(from: exchange.date, exchange.duration)
            span.addAttributes { span in
                span.add(attributesOf: exchange, known, detail)
            }
            span.addStatus(isError: known.error != nil)
        }
    }

    private mutating func add(
        attributesOf exchange: ExchangeRecord, _ known: ExchangeAttributes, _ detail: Span.Detail
    ) {
        let metrics = exchange.metrics
        let redaction = detail.redaction(of: exchange.redaction)
        attribute("http.request.method", known.method)
        attribute("http.request.method_original", known.originalMethod)
        attribute("server.address", known.address)
        attribute("server.port", known.port)
        attribute("url.full", Self.fullURL(exchange.url, redaction))
        attribute("url.template", known.template)
        attribute("error.type", known.error)
        attribute("http.response.status_code", known.status)
        if exchange.number > 1 { attribute("http.request.resend_count", exchange.number - 1) }
        attribute("network.protocol.version", known.version)
        attribute("network.peer.address", metrics?.remoteAddress)
        attribute("network.peer.port", metrics?.remotePort)
        attribute("http.request.body.size", metrics?.requestBodyBytes)
        attribute("http.response.body.size", metrics?.responseBodyBytes)
        attribute("midstream.cause", exchange.cause)
        guard !detail.headers.isEmpty else { return }
        attributes(detail.headers, of: exchange.requestHeaders, "request", redaction)
        if let headers = exchange.responseHeaders { attributes(detail.headers, of: headers, "response", redaction) }
    }

    /// A span of kind INTERNAL for a call, with its events.
    mutating func append(internal call: CallRecord, _ context: Span.Context, _ detail: Span.Detail) {
        let name = ExchangeAttributes.spanName(ExchangeAttributes.method(call.method).0, call.route.map(ExchangeAttributes.path))
        append { span in
            span.addTrace(of: context)
            span.add("spanId", hexadecimal: context.call.low)
            span.add("parentSpanId", context.parent?.spanID)
            span.add("name", "call " + name)
            span.add("kind", 1)
            span.addTimes(from: call.start, call.duration)
            span.addAttributes { span in
                span.attribute("midstream.exchanges", call.exchanges.count)
                if call.error != "cancelled" { span.attribute("error.type", call.error) }
            }
            let redaction = detail.redaction(of: call.redaction)
            span.add("events", each: call.events) { $0.append(event: $1, of: call, redaction) }
            span.addStatus(isError: call.error != nil && call.error != "cancelled")
        }
    }

    private mutating func append(event: Trace.Event, of call: CallRecord, _ redaction: Redaction) {
        let shown = redaction.event(event.text, event.attributes)
        append { object in
            object.add("timeUnixNano", nanoseconds: Span.nanoseconds(call.start, event.start))
            object.add("name", event.name)
            object.addAttributes { object in
                object.attribute("midstream.text", shown.text)
                for (name, value) in shown.attributes.sorted(by: { $0.key < $1.key }) {
                    object.attribute("midstream.\(name)", value)
                }
            }
        }
    }

    /// Never 0.
    private static func spanID(of exchange: ExchangeRecord.ID) -> UInt64 {
        (exchange.call.high ^ (UInt64(exchange.number) &* 0x9E37_79B9_7F4A_7C15)) | 1
    }

    /// With user and password as the conventions have them.
    private static func fullURL(_ url: String, _ redaction: Redaction) -> String {
        let shown = redaction.url(url)
        guard url.utf8.contains(UInt8(ascii: "@")), let authority = ExchangeAttributes.authority(of: url[...]),
            url.utf8[authority].contains(UInt8(ascii: "@")),
            let place = ExchangeAttributes.authority(of: shown[...])
        else { return shown }
        let host = shown[place].split(separator: "@").last ?? ""
        return shown[..<place.lowerBound] + "REDACTED:REDACTED@" + host + shown[place.upperBound...]
    }

    private mutating func attributes(
        _ names: [HTTPHeaders.Name], of headers: HTTPHeaders, _ side: String, _ redaction: Redaction
    ) {
        for name in names {
            let values = headers.filter { $0.name == name }.map { redaction.value($0.value, of: name, in: headers) }
            if !values.isEmpty { attribute("http.\(side).header.\(name.rawValue.lowercased())", texts: values) }
        }
    }

    private mutating func addTrace(of context: Span.Context) {
        if let parent = context.parent { return add("traceId", parent.traceID) }
        begin("traceId")
        append(raw: "\"")
        append(hexadecimal: context.call.high)
        append(hexadecimal: context.call.low)
        append(raw: "\"")
    }

    private mutating func add(_ name: StaticString, hexadecimal number: UInt64) {
        begin(name)
        append(raw: "\"")
        append(hexadecimal: number)
        append(raw: "\"")
    }

    private mutating func addTimes(from start: Date, _ duration: Duration) {
        add("startTimeUnixNano", nanoseconds: Span.nanoseconds(start, .zero))
        add("endTimeUnixNano", nanoseconds: Span.nanoseconds(start, duration))
    }

    private mutating func addStatus(isError: Bool) {
        begin("status")
        append(raw: isError ? #"{"code":2}"# : "{}")
    }
}

extension Span {
    /// Since 1970. What is before that is 0, and what 64 bits have no room for as late as they can tell.
    static func nanoseconds(_ date: Date, _ later: Duration) -> Int64 {
        let start = Int64(min(max(0, date.timeIntervalSince1970 * 1e6), 9e15)) * 1_000
        let (sum, isTooLate) = start.addingReportingOverflow(later.wholeNanoseconds)
        return isTooLate ? .max : sum
    }
}

extension JSONObject {
    /// 64 bits are a text.
    mutating func add(_ name: StaticString, nanoseconds: Int64) {
        begin(name)
        append(raw: "\"")
        append(nanoseconds)
        append(raw: "\"")
    }
}
