internal import Foundation
internal import MidstreamCore

extension HAREntry {
    /// An exchange.
    ///
    /// - Parameters:
    ///   - redaction: What is withheld; nil: nothing.
    ///   - events: The call's events so far.
    init(_ exchange: ExchangeRecord, redaction: Redaction?, events: [Event] = []) {
        startedDateTime = Self.text(exchange.date)
        request = Request(exchange, redaction)
        response = Response(exchange, redaction)
        timings = Timings(exchange)
        time = timings.sum
        connection = exchange.metrics?.localPort.map(String.init)
        serverIPAddress = exchange.metrics?.remoteAddress
        _midstream = Own(
            call: exchange.call.description, number: exchange.number, attempt: exchange.attempt, cause: exchange.cause,
            events: events.isEmpty ? nil : events, error: exchange.error, phase: exchange.phase?.rawValue,
            isOpen: exchange.isBodyArriving ? true : nil, isCut: isCut(exchange) ? true : nil,
            isRequestCut: isRequestCut(exchange) ? true : nil)
    }

    /// A call that a cache answered; nil for any other.
    ///
    /// - Parameter redaction: What is withheld; nil: nothing.
    init?(_ call: CallRecord, redaction: Redaction?) {
        guard call.exchanges.isEmpty, let status = call.status, call.error == nil,
            let outcome = call.events.last(where: { $0.name == "cache.outcome" && Self.isAnswer($0.attributes) })
        else { return nil }
        startedDateTime = Self.text(call.start)
        request.method = call.method.rawValue
        request.url = Self.url(call.url, redaction)
        (response.status, response.statusText) = (Double(status.code), status.reason)
        timings.wait = call.duration / .milliseconds(1)
        time = timings.sum
        _fromCache = outcome.attributes["store"] == "disk" ? "disk" : "memory"
        _midstream = Own(call: call.id.description, events: call.events.map { Event($0, redaction: redaction) })
    }

    /// Whether a cache's outcome is that it answered. What stands in for an error is no hit, nor is what came for another call.
    private static func isAnswer(_ outcome: [String: EventValue]) -> Bool {
        outcome["hit"] == true || outcome["store"] != nil || outcome["collapsed"] == true
    }

    /// Whether less than the whole body of the response is in the entry: it wasn't kept, or can't be searched for secrets.
    private func isCut(_ exchange: ExchangeRecord) -> Bool {
        guard let body = exchange.responseBody else { return exchange.status != nil && response.bodySize != 0 }
        return !body.isWhole || body.size > 0 && response.content.text == nil
    }

    /// Whether less than the whole body of the request is in the entry: it wasn't kept, or can't be searched for secrets.
    private func isRequestCut(_ exchange: ExchangeRecord) -> Bool {
        guard let body = exchange.requestBody else { return true }
        return !body.isWhole || body.size > 0 && request.postData?.text.isEmpty != false
    }

    private static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    fileprivate static func fields(_ headers: HTTPHeaders, _ redaction: Redaction?) -> [Field] {
        headers.map { Field(name: $0.name.rawValue, value: redaction?.value($0.value, of: $0.name, in: headers) ?? $0.value) }
    }

    /// Percent-encoded where something is withheld: other readers take URLs for ASCII.
    fileprivate static func url(_ text: String, _ redaction: Redaction?) -> String {
        guard let redaction else { return text }
        let mark = redaction.mark.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return redaction.url(text).replacing(redaction.mark, with: mark)
    }

    /// Whether it is a picture, a sound or a font: nobody writes a password into those. Playlists, which are called sounds (RFC 8216 §4), are text
    /// with URLs that may be signed.
    private static func isBinary(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
        return ["image/", "font/", "audio/", "video/"].contains { name.hasPrefix($0) } && !name.hasSuffix("mpegurl")
    }

    /// The content of a body: as text, or in Base64 where it may be shown and isn't text.
    fileprivate static func content(
        _ body: ExchangeRecord.Body, _ headers: HTTPHeaders, _ redaction: Redaction?
    ) -> (text: String, encoding: String?)? {
        let type = headers[.contentType]
        if let redaction {
            // Of a body that was cut, a cut character may be left out as well.
            let text =
                body.isWhole
                ? redaction.wholeText(body.bytes, contentType: type) : redaction.text(body.bytes, contentType: type)
            if let text { return (text, nil) }
            guard let type, isBinary(type) else { return nil }
        } else {
            let text = String(decoding: body.bytes, as: UTF8.self)
            if text.utf8.elementsEqual(body.bytes) { return (text, nil) }
        }
        return (Data(body.bytes).base64EncodedString(), "base64")
    }
}

extension HAREntry.Request {
    fileprivate init(_ exchange: ExchangeRecord, _ redaction: Redaction?) {
        method = exchange.method.rawValue
        url = HAREntry.url(exchange.url, redaction)
        httpVersion = exchange.version.name
        headers = HAREntry.fields(exchange.requestHeaders, redaction)
        queryString = Self.items(of: url)
        // Of a body that nobody has read yet the size isn't known.
        let kept = exchange.requestBody.flatMap { $0.isWhole || $0.size > 0 ? $0.size : nil }
        bodySize = (exchange.metrics?.requestBodyBytes ?? kept).map(Double.init) ?? -1
        guard let body = exchange.requestBody, body.size > 0 else { return }
        let content = HAREntry.content(body, exchange.requestHeaders, redaction)
        postData = HAREntry.PostData(
            mimeType: exchange.requestHeaders[.contentType] ?? "", text: content?.text ?? "", encoding: content?.encoding)
    }

    private static func items(of url: String) -> [HAREntry.Field] {
        (URLText(url).query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                let text = String($0).replacing("+", with: " ")
                return text.removingPercentEncoding ?? text
            }
            return HAREntry.Field(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }
}

extension HAREntry.Response {
    fileprivate init(_ exchange: ExchangeRecord, _ redaction: Redaction?) {
        httpVersion = exchange.version.name
        _error = exchange.failure(by: redaction ?? Redaction())
        guard let status = exchange.status, let headers = exchange.responseHeaders else { return }
        self.status = Double(status.code)
        statusText = status.reason
        self.headers = HAREntry.fields(headers, redaction)
        if let location = headers[.location] {
            redirectURL = HAREntry.url(redaction?.value(location, of: .location, in: headers) ?? location, redaction)
        }
        bodySize = exchange.metrics?.responseBodyBytes.map(Double.init) ?? -1
        content.size = exchange.responseBody.map { Double($0.size) } ?? max(0, bodySize)
        content.mimeType = headers[.contentType] ?? ""
        guard let body = exchange.responseBody, body.size > 0 else { return }
        (content.text, content.encoding) = HAREntry.content(body, headers, redaction).map { ($0, $1) } ?? (nil, nil)
    }
}

extension HAREntry.Timings {
    fileprivate init(_ exchange: ExchangeRecord) {
        guard let metrics = exchange.metrics, let total = metrics.total else {
            wait = exchange.headDuration / .milliseconds(1)
            receive = (exchange.duration - exchange.headDuration) / .milliseconds(1)
            return
        }
        let firstByte = metrics.firstByte ?? total
        func milliseconds(_ duration: Duration) -> Double { max(0, (duration / .microseconds(1)).rounded() / 1_000) }
        // From when to when the connection was being made.
        var (queued, connected) = (Duration.zero, Duration.zero)
        if metrics.isReusedConnection != true, let found = metrics.nameLookup, let connect = metrics.connect {
            connected = max(connect, metrics.tlsHandshake ?? .zero)
            queued = min(metrics.connectStart ?? .zero, connected)
            let lookup = max(found, queued)
            dns = milliseconds(lookup - queued)
            self.connect = milliseconds(connected - lookup)
            if let handshake = metrics.tlsHandshake { ssl = milliseconds(handshake - max(connect, lookup)) }
        }
        let begun = min(firstByte, metrics.sendStart ?? connected)
        blocked = milliseconds(queued + begun - connected)
        wait = milliseconds(firstByte - begun)
        receive = milliseconds(total - firstByte)
    }
}

extension HTTPVersion? {
    /// As both browsers and proxies write it.
    fileprivate var name: String {
        switch self {
        case .http2: "http/2.0"
        case .http3: "http/3.0"
        case .http1_0: "HTTP/1.0"
        case .http1_1, nil: "HTTP/1.1"
        }
    }
}
