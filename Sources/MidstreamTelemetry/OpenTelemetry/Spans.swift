internal import Foundation
internal import MidstreamCore
internal import MidstreamObservability

/// A span as OTLP has it in JSON.
enum Span {
    /// The place of a call's spans in a distributed trace.
    struct Context: Sendable {
        let traceID: String
        /// The span of the call.
        let callSpanID: String
        /// That of the span around the call.
        let parentID: String?

        init(_ call: CallRecord.ID, parent: TraceParent?) {
            let id = call.description
            traceID = parent?.traceID ?? id
            callSpanID = String(id.suffix(16))
            parentID = parent?.spanID
        }
    }

    /// What of requests and responses is shown.
    struct Detail: Sendable {
        var redaction: Redaction
        /// Names of header fields that become attributes.
        var headers: [HTTPHeaders.Name]
        var hasCalls: Bool
    }

    /// A span of kind CLIENT for an exchange.
    static func client(_ exchange: ExchangeRecord, _ context: Context, _ detail: Detail) -> JSONObject {
        let known = ExchangeAttributes(exchange)
        let sent = TraceParent(exchange.requestHeaders["traceparent"], state: exchange.requestHeaders["tracestate"])
        var attributes = AttributeList()
        attributes.add("http.request.method", known.method)
        attributes.add("http.request.method_original", known.originalMethod)
        attributes.add("server.address", known.address)
        attributes.add("server.port", known.port)
        attributes.add("url.full", fullURL(exchange.url, detail.redaction))
        attributes.add("url.template", known.template)
        attributes.add("error.type", known.error)
        attributes.add("http.response.status_code", known.status)
        if exchange.id.number > 1 { attributes.add("http.request.resend_count", exchange.id.number - 1) }
        attributes.add("network.protocol.version", known.version)
        attributes.add("network.peer.address", exchange.metrics?.remoteAddress)
        attributes.add("network.peer.port", exchange.metrics?.remotePort)
        attributes.add("http.request.body.size", exchange.metrics?.requestBodyBytes)
        attributes.add("http.response.body.size", exchange.metrics?.responseBodyBytes)
        attributes.add("midstream.cause", exchange.cause)
        add(detail.headers, of: exchange.requestHeaders, "request", detail.redaction, to: &attributes)
        if let headers = exchange.responseHeaders {
            add(detail.headers, of: headers, "response", detail.redaction, to: &attributes)
        }
        var span = JSONObject()
        span.add("traceId", sent?.traceID ?? context.traceID)
        span.add("spanId", sent?.spanID ?? spanID(of: exchange.id))
        span.add("traceState", sent?.state)
        span.add(
            "parentSpanId", detail.hasCalls || context.parentID == nil && sent != nil ? context.callSpanID : context.parentID)
        span.add("name", known.spanName)
        span.add("kind", 3)
        add(exchange.date, exchange.duration, to: &span)
        span.add("attributes", attributes)
        span.add("status", isError: known.error != nil)
        return span
    }

    /// A span of kind INTERNAL for a call, with its events.
    static func `internal`(_ call: CallRecord, _ context: Context, _ detail: Detail) -> JSONObject {
        var attributes = AttributeList()
        attributes.add("midstream.exchanges", call.exchanges.count)
        if call.error != "cancelled" { attributes.add("error.type", call.error) }
        var span = JSONObject()
        span.add("traceId", context.traceID)
        span.add("spanId", context.callSpanID)
        span.add("parentSpanId", context.parentID)
        let method = ExchangeAttributes.method(call.method).0
        span.add(
            "name",
            "call " + (method == "_OTHER" ? "HTTP" : method) + (call.route.map { " " + ExchangeAttributes.path($0) } ?? ""))
        span.add("kind", 1)
        add(call.start, call.duration, to: &span)
        span.add("attributes", attributes)
        span.add(
            "events",
            call.events.map { event in
                var object = JSONObject()
                object.add("timeUnixNano", nanoseconds(call.start, event.start))
                object.add("name", event.name)
                var attributes = AttributeList()
                attributes.add("midstream.text", event.text)
                for (name, value) in event.attributes.sorted(by: { $0.key < $1.key }) {
                    attributes.add("midstream.\(name)", AttributeValue(value))
                }
                object.add("attributes", attributes)
                return object
            })
        span.add("status", isError: call.error != nil && call.error != "cancelled")
        return span
    }

    /// Never 0.
    private static func spanID(of exchange: ExchangeRecord.ID) -> String {
        let number = UInt64(exchange.call.description.prefix(16), radix: 16) ?? 0
        let digits = String((number ^ (UInt64(exchange.number) &* 0x9E37_79B9_7F4A_7C15)) | 1, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// With user and password as the conventions have them.
    private static func fullURL(_ url: String, _ redaction: Redaction) -> String {
        let shown = redaction.url(url)
        guard let authority = ExchangeAttributes.authority(of: url[...]), url.utf8[authority].contains(UInt8(ascii: "@")),
            let place = ExchangeAttributes.authority(of: shown[...])
        else { return shown }
        let host = shown[place].split(separator: "@").last ?? ""
        return shown[..<place.lowerBound] + "REDACTED:REDACTED@" + host + shown[place.upperBound...]
    }

    private static func add(
        _ names: [HTTPHeaders.Name], of headers: HTTPHeaders, _ side: String, _ redaction: Redaction,
        to attributes: inout AttributeList
    ) {
        for name in names {
            let values = headers.filter { $0.name == name }.map { redaction.value($0.value, of: name, in: headers) }
            if !values.isEmpty { attributes.add("http.\(side).header.\(name.rawValue.lowercased())", .strings(values)) }
        }
    }

    private static func add(_ start: Date, _ duration: Duration, to span: inout JSONObject) {
        span.add("startTimeUnixNano", nanoseconds(start, .zero))
        span.add("endTimeUnixNano", nanoseconds(start, duration))
    }

    static func nanoseconds(_ date: Date, _ later: Duration) -> String {
        let (seconds, attoseconds) = later.components
        return String(Int64(date.timeIntervalSince1970 * 1e6) * 1_000 + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

extension JSONObject {
    fileprivate mutating func add(_ name: StaticString, isError: Bool) {
        var status = JSONObject()
        if isError { status.add("code", 2) }
        begin(name)
        append(raw: status)
    }
}
