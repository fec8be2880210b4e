internal import Foundation
internal import MidstreamCore

/// Records as objects in JSON, written by hand: an encoder costs as much as the rest of a request.
extension CallRecord {
    func json(_ redaction: Redaction) -> String {
        var object = JSONObject()
        object.add("ts", start)
        object.add("call", id.description)
        object.add("request", requestID)
        if purpose != .own { object.add("purpose", purpose.rawValue) }
        object.add("serves", servedCall?.description)
        object.add("attempt", exchanges.last?.attempt)
        object.add("method", method.rawValue)
        object.add("url", redaction.url(url))
        object.add("route", route.map(redaction.url))
        object.add("status", status?.code)
        object.add("ms", duration)
        object.add("exchanges", exchanges.count)
        object.add("error", error)
        object.add("failure", failure(by: redaction))
        object.add("cache", cacheOutcome)
        object.add("conn", exchanges.last?.metrics?.localPort)
        object.add("traceId", exchanges.last?.traceID ?? id.description)
        return object.text
    }

    /// `hit`, or why the cache asked the server.
    private var cacheOutcome: String? {
        guard let event = events.last(where: { $0.name == "cache.outcome" }) else { return nil }
        if event.attributes["hit"] == true { return "hit" }
        guard case .string(let reason)? = event.attributes["forward"] else { return nil }
        return reason
    }
}

extension ExchangeRecord {
    func json(_ redaction: Redaction, withBodies: Bool) -> String {
        var object = JSONObject()
        object.add("ts", date)
        object.add("call", id.call.description)
        object.add("exchange", id.number)
        object.add("cause", cause)
        object.add("attempt", attempt)
        object.add("method", method.rawValue)
        object.add("url", redaction.url(url))
        object.add("route", route.map(redaction.url))
        object.add("status", status?.code)
        object.add("ms", duration)
        object.add("sent", metrics?.requestBodyBytes)
        object.add("bytes", metrics?.responseBodyBytes)
        object.add("error", error)
        object.add("failure", failure(by: redaction))
        object.add("conn", metrics?.localPort)
        object.add("reused", metrics?.isReusedConnection)
        object.add("traceId", traceID ?? id.call.description)
        object.add("requestHeaders", requestHeaders, redaction)
        if withBodies { object.add("requestBody", requestBody, requestHeaders, redaction) }
        if let responseHeaders {
            object.add("responseHeaders", responseHeaders, redaction)
            if withBodies { object.add("responseBody", responseBody, responseHeaders, redaction) }
        }
        return object.text
    }

    /// That of the `traceparent` field that was sent.
    fileprivate var traceID: String? { TraceParent(requestHeaders["traceparent"])?.traceID }
}

extension JSONObject {
    /// The fields as pairs, since a name may come more than once.
    fileprivate mutating func add(_ name: StaticString, _ headers: HTTPHeaders, _ redaction: Redaction) {
        add(name, each: headers) { object, field in
            object.append(raw: "[")
            object.append(quoted: field.name.rawValue)
            object.append(raw: ",")
            object.append(quoted: redaction.value(field.value, of: field.name, in: headers))
            object.append(raw: "]")
        }
    }

    /// The text of a body, or its size.
    fileprivate mutating func add(
        _ name: StaticString, _ body: ExchangeRecord.Body?, _ headers: HTTPHeaders, _ redaction: Redaction
    ) {
        guard let body else { return }
        begin(name)
        append { object in
            object.add("size", body.size)
            if body.size > 0 { object.add("text", redaction.text(body.bytes, contentType: headers[.contentType])) }
            if !body.isWhole { object.add("cut", true) }
        }
    }
}
