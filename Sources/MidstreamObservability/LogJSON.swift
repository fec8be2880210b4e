internal import Foundation
internal import MidstreamCore

/// Records as objects in JSON, written by hand: an encoder costs as much as the rest of a request.
extension CallRecord {
    func json(_ redaction: Redaction) -> String {
        var object = JSONObject()
        object.add("ts", start.rfc3339)
        object.add("call", id.description)
        object.add("request", requestID.uuidString)
        if purpose != .own { object.add("purpose", purpose.rawValue) }
        object.add("serves", servedCall?.description)
        object.add("attempt", exchanges.last?.attempt)
        object.add("method", method.rawValue)
        object.add("url", redaction.url(url))
        object.add("route", route.map(redaction.url))
        object.add("status", status?.code)
        object.add("ms", duration.inMilliseconds)
        object.add("exchanges", exchanges.count)
        object.add("error", error)
        object.add("failure", failure)
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
        object.add("ts", date.rfc3339)
        object.add("call", id.call.description)
        object.add("exchange", id.number)
        object.add("cause", cause)
        object.add("attempt", attempt)
        object.add("method", method.rawValue)
        object.add("url", redaction.url(url))
        object.add("route", route.map(redaction.url))
        object.add("status", status?.code)
        object.add("ms", duration.inMilliseconds)
        object.add("sent", metrics?.requestBodyBytes)
        object.add("bytes", metrics?.responseBodyBytes ?? responseBody?.size)
        object.add("error", error)
        object.add("failure", failure)
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

private struct JSONObject {
    private var content = ""

    var text: String { "{\(content)}" }

    mutating func add(_ name: String, _ value: String?) { if let value { add(name, raw: Self.quoted(value)) } }
    mutating func add(_ name: String, _ value: (some BinaryInteger)?) { if let value { add(name, raw: "\(value)") } }
    mutating func add(_ name: String, _ value: Double) { add(name, raw: "\(value)") }
    mutating func add(_ name: String, _ value: Bool?) { if let value { add(name, raw: "\(value)") } }

    /// The fields as pairs, since a name may come more than once.
    mutating func add(_ name: String, _ headers: HTTPHeaders, _ redaction: Redaction) {
        let fields = headers.map {
            "[\(Self.quoted($0.name.rawValue)),\(Self.quoted(redaction.value($0.value, of: $0.name, in: headers)))]"
        }
        add(name, raw: "[\(fields.joined(separator: ","))]")
    }

    /// The text of a body, or its size.
    mutating func add(_ name: String, _ body: ExchangeRecord.Body?, _ headers: HTTPHeaders, _ redaction: Redaction) {
        guard let body else { return }
        var object = JSONObject()
        object.add("size", body.size)
        if body.size > 0 { object.add("text", redaction.text(body.bytes, contentType: headers[.contentType])) }
        if !body.isWhole { object.add("cut", true) }
        add(name, raw: object.text)
    }

    private mutating func add(_ name: String, raw value: String) {
        if !content.isEmpty { content += "," }
        content += "\"\(name)\":\(value)"
    }

    private static func quoted(_ text: String) -> String {
        if text.utf8.allSatisfy({ 32...126 ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            return "\"\(text)\""
        }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            // Line separators, since some readers of lines take them for the end of one.
            case _ where scalar.value < 32 || scalar.value == 127 || 0x2028...0x2029 ~= scalar.value:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension Date {
    /// As `2026-01-31T12:30:00.250Z` (RFC 3339 §5.6).
    fileprivate var rfc3339: String {
        let time = CivilTime(self)
        let seconds = timeIntervalSince1970
        let milliseconds = min(999, max(0, Int(((seconds - seconds.rounded(.down)) * 1_000).rounded(.down))))
        func padded(_ number: Int, _ length: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, length - digits.count)) + digits
        }
        return "\(padded(time.year, 4))-\(padded(time.month))-\(padded(time.day))T\(padded(time.hour)):\(padded(time.minute)):"
            + "\(padded(time.second)).\(padded(milliseconds, 3))Z"
    }
}
