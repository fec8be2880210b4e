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

/// An object that grows as UTF-8.
private struct JSONObject {
    private var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(640)
        bytes.append(UInt8(ascii: "{"))
    }

    var text: String { String(decoding: bytes, as: UTF8.self) + "}" }

    mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        append(quoted: value)
    }

    mutating func add(_ name: StaticString, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        begin(name)
        bytes += String(value).utf8
    }

    /// As `UUID.uuidString`, which takes a quarter of a whole line's time.
    mutating func add(_ name: StaticString, _ id: UUID) {
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        withUnsafeBytes(of: id.uuid) { id in
            for (place, byte) in id.enumerated() {
                if place == 4 || place == 6 || place == 8 || place == 10 { bytes.append(UInt8(ascii: "-")) }
                append(digit: byte >> 4)
                append(digit: byte & 15)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(digit: UInt8) {
        bytes.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10))
    }

    mutating func add(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        begin(name)
        bytes += (value ? "true" : "false").utf8
    }

    /// In milliseconds, with a digit after the point.
    mutating func add(_ name: StaticString, _ duration: Duration) {
        begin(name)
        let tenths = Int64(clamping: Int((duration.inMilliseconds * 10).rounded()))
        bytes += String(tenths / 10).utf8
        bytes.append(UInt8(ascii: "."))
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: (tenths % 10).magnitude))
    }

    /// As `2026-01-31T12:30:00.250Z` (RFC 3339 §5.6).
    mutating func add(_ name: StaticString, _ date: Date) {
        begin(name)
        let (time, seconds) = (CivilTime(date), date.timeIntervalSince1970)
        let milliseconds = min(999, max(0, Int(((seconds - seconds.rounded(.down)) * 1_000).rounded(.down))))
        bytes.append(UInt8(ascii: "\""))
        append(time.year, length: 4, before: "-")
        append(time.month, length: 2, before: "-")
        append(time.day, length: 2, before: "T")
        append(time.hour, length: 2, before: ":")
        append(time.minute, length: 2, before: ":")
        append(time.second, length: 2, before: ".")
        append(milliseconds, length: 3, before: "Z")
        bytes.append(UInt8(ascii: "\""))
    }

    /// A number with leading zeros.
    private mutating func append(_ number: Int, length: Int, before end: Unicode.Scalar) {
        var unit = length == 4 ? 1_000 : length == 3 ? 100 : 10
        while unit > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
        bytes.append(UInt8(ascii: end))
    }

    /// The fields as pairs, since a name may come more than once.
    mutating func add(_ name: StaticString, _ headers: HTTPHeaders, _ redaction: Redaction) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (place, field) in headers.enumerated() {
            bytes += (place == 0 ? "[" : ",[").utf8
            append(quoted: field.name.rawValue)
            bytes.append(UInt8(ascii: ","))
            append(quoted: redaction.value(field.value, of: field.name, in: headers))
            bytes.append(UInt8(ascii: "]"))
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// The text of a body, or its size.
    mutating func add(_ name: StaticString, _ body: ExchangeRecord.Body?, _ headers: HTTPHeaders, _ redaction: Redaction) {
        guard let body else { return }
        var object = JSONObject()
        object.add("size", body.size)
        if body.size > 0 { object.add("text", redaction.text(body.bytes, contentType: headers[.contentType])) }
        if !body.isWhole { object.add("cut", true) }
        begin(name)
        bytes += object.text.utf8
    }

    private mutating func begin(_ name: StaticString) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes += $0 }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(quoted text: String) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy({ 32...126 ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            bytes += text.utf8
        } else {
            for scalar in text.unicodeScalars { append(escaping: scalar) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaping scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": bytes += "\\\"".utf8
        case "\\": bytes += "\\\\".utf8
        case "\n": bytes += "\\n".utf8
        case "\r": bytes += "\\r".utf8
        case "\t": bytes += "\\t".utf8
        // Line separators, since some readers of lines take them for the end of one.
        case _ where scalar.value < 32 || scalar.value == 127 || 0x2028...0x2029 ~= scalar.value:
            let digits = String(scalar.value, radix: 16)
            bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
        default: bytes += String(scalar).utf8
        }
    }
}
