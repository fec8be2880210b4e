internal import Foundation
internal import MidstreamCore

/// A call as the page has it. Times are milliseconds from the call's start, its own from the first call's.
struct ReportedCall {
    private struct Span {
        let name: String
        let depth: Int
        let at: Double
        let duration: Double
    }

    private var id = ""
    private var start = 0.0
    private var duration = 0.0
    private var method = ""
    private var url = ""
    private var route: String?
    private var status: Int?
    private var error: String?
    private var message: String?
    private var cache: String?
    private var exchanges: [ReportedExchange] = []
    private var events: [HAREntry.Event] = []
    private var spans: [Span] = []

    init(_ call: CallRecord, since first: Date, redaction: Redaction) {
        id = call.id.description
        start = call.start.timeIntervalSince(first) * 1_000
        duration = call.duration / .milliseconds(1)
        method = call.method.rawValue
        url = redaction.url(call.url)
        route = call.route.map(redaction.url)
        status = call.status?.code
        (error, message) = (call.error, call.failure(by: redaction))
        cache = HAREntry(call, redaction: redaction)?._fromCache
        exchanges = call.exchanges.map {
            ReportedExchange(entry: HAREntry($0, redaction: redaction), start: $0.start / .milliseconds(1))
        }
        events = call.events.map { HAREntry.Event($0, redaction: redaction) }
        for span in call.spans { add(span, depth: 0) }
    }

    private mutating func add(_ span: Trace.Span, depth: Int) {
        guard spans.count < 200 else { return }
        spans.append(
            Span(
                name: span.name, depth: min(depth, 20), at: span.start / .milliseconds(1),
                duration: (span.duration ?? .zero) / .milliseconds(1)))
        for child in span.children { add(child, depth: depth + 1) }
    }

    /// The one that entries tell of.
    init(_ entries: [HAREntry], since first: Date) {
        id = entries[0]._midstream?.call ?? ""
        start = (entries[0].start?.timeIntervalSince(first) ?? 0) * 1_000
        method = entries[0].request.method
        url = entries[0].request.url
        for entry in entries { add(entry, since: first) }
    }

    private mutating func add(_ entry: HAREntry, since first: Date) {
        let at = max(0, (entry.start?.timeIntervalSince(first) ?? 0) * 1_000 - start)
        if let kind = entry._fromCache { cache = kind } else { exchanges.append(ReportedExchange(entry: entry, start: at)) }
        duration = max(duration, at + max(0, entry.time))
        let own = entry._midstream
        if let known = own?.events, known.count > events.count { events = known }
        // The call goes on with the first.
        if own?.cause == "hedge", own?.error == "cancelled", exchanges.count > 1 { return }
        status = entry.response.code
        error = own?.error ?? (status == nil ? "failed" : nil)
        message = entry.response._error
    }

    /// As far as they came to an exchange.
    private var attempts: Int { exchanges.map { $0.entry._midstream?.attempt ?? 1 }.max() ?? 0 }

    var json: JSONObject {
        var call = JSONObject()
        call.add("id", id)
        call.add("start", milliseconds: start)
        call.add("duration", milliseconds: duration)
        call.add("method", method)
        call.add("url", url)
        call.add("route", route)
        call.begin("outcome")
        call.append { outcome in
            outcome.add("status", status)
            outcome.add("error", error)
            outcome.add("message", message)
            outcome.add("cache", cache)
        }
        call.add("attempts", attempts)
        call.add("exchanges", exchanges.enumerated().map { $1.json(number: $0 + 1) })
        call.add("events", each: events) { json, event in
            json.append { object in
                object.add("at", milliseconds: event.at)
                object.add("name", event.name)
                object.add("text", event.text)
                if let attributes = event.attributes {
                    object.begin("attributes")
                    object.append { $0.append(membersOf: attributes) }
                }
            }
        }
        call.add("spans", each: spans) { json, span in
            json.append { object in
                object.add("name", span.name)
                object.add("depth", span.depth)
                object.add("at", milliseconds: span.at)
                object.add("ms", milliseconds: span.duration)
            }
        }
        return call
    }
}

private struct ReportedExchange {
    let entry: HAREntry
    let start: Double

    func json(number: Int) -> JSONObject {
        let own = entry._midstream
        var exchange = JSONObject()
        exchange.add("number", own?.number ?? number)
        exchange.add("attempt", own?.attempt)
        exchange.add("cause", own?.cause)
        exchange.add("start", milliseconds: start)
        exchange.add("duration", milliseconds: max(0, entry.time))
        exchange.begin("phases")
        exchange.append { $0.append(entry.timings) }
        exchange.add("method", entry.request.method)
        exchange.add("url", entry.request.url)
        exchange.add("status", entry.response.code)
        exchange.add("error", own?.error ?? (entry.response.code == nil ? "failed" : nil))
        exchange.add("message", entry.response._error)
        exchange.add("connection", entry.connection)
        exchange.add("reused", entry.timings.connect < 0)
        exchange.add("peer", entry.serverIPAddress)
        exchange.add("version", entry.response.httpVersion)
        exchange.add("responseSize", entry.response.size)
        exchange.add("isRequestCut", entry.lacksRequestBody ? true : nil)
        exchange.add("isCut", own?.isCut)
        exchange.add("requestHeaders", entry.request.headers)
        exchange.add("responseHeaders", entry.response.headers)
        if let data = entry.request.postData {
            exchange.add("requestBody", text: data.text, type: data.mimeType, encoding: data.encoding)
        }
        let content = entry.response.content
        if let text = content.text {
            exchange.add("responseBody", text: text, type: content.mimeType, encoding: content.encoding)
        }
        return exchange
    }
}

/// What others have written may be any number; one that is no integer's counts as none.
extension HAREntry.Response {
    fileprivate var code: Int? { status > 0 ? Int(exactly: status.rounded(.down)) : nil }
    /// Of the body as it was read, where the transport measured none.
    fileprivate var size: Int? {
        let size = bodySize < 0 && content.size > 0 ? content.size : bodySize
        return size >= 0 ? Int(exactly: size.rounded(.down)) : nil
    }
}

extension JSONObject {
    /// To a thousandth.
    fileprivate mutating func add(_ name: StaticString, milliseconds: Double) {
        begin(name)
        guard milliseconds.isFinite, abs(milliseconds) < 1e15 else { return append(0) }
        append((milliseconds * 1_000).rounded() / 1_000)
    }

    /// The phases that there were, without the handshake in what it is a part of.
    fileprivate mutating func append(_ timings: HAREntry.Timings) {
        let handshake = max(0, timings.ssl)
        let phases: [(StaticString, Double)] = [
            ("blocked", timings.blocked), ("lookup", timings.dns), ("connect", timings.connect - handshake), ("tls", handshake),
            ("send", timings.send), ("wait", timings.wait), ("receive", timings.receive),
        ]
        for (name, time) in phases where time > 0 { add(name, milliseconds: time) }
    }

    fileprivate mutating func add(_ name: StaticString, _ fields: [HAREntry.Field]) {
        add(name, each: fields) { json, field in
            json.append(raw: "[")
            json.append(quoted: field.name)
            json.append(raw: ",")
            json.append(quoted: field.value)
            json.append(raw: "]")
        }
    }

    fileprivate mutating func add(_ name: StaticString, text: String, type: String, encoding: String?) {
        begin(name)
        append { body in
            body.add("text", text)
            body.add("type", type)
            body.add("encoding", encoding)
        }
    }
}
