internal import MidstreamCore

/// Records as text for people.
extension CallRecord {
    func line(_ redaction: Redaction) -> String {
        let more = exchanges.count == 1 ? "" : ", \(exchanges.count) exchanges"
        let purpose = purpose == .own ? "" : " (\(purpose))"
        let outcome = outcome(status, failure(by: redaction))
        return "\(redaction.line(method, url))\(purpose) \(outcome), \(duration.inMilliseconds) ms\(more)"
    }
}

extension ExchangeRecord {
    func lines(_ redaction: Redaction, withBodies: Bool) -> String {
        var lines = ["→ \(redaction.line(method, url)) (\(id.call), exchange \(id.number), \(cause))"]
        lines += Self.lines(requestHeaders, redaction, mark: "> ")
        if withBodies { lines += Self.lines(requestBody, requestHeaders, redaction, mark: "> ") }
        let connection = metrics?.localPort.map { ", connection \($0)" } ?? ""
        let version = version.map { " \($0)" } ?? ""
        let end = outcome(status, failure(by: redaction)).replacing("→", with: "←")
        lines.append("\(end)\(version), \(duration.inMilliseconds) ms\(connection)")
        guard let responseHeaders else { return lines.joined(separator: "\n") }
        lines += Self.lines(responseHeaders, redaction, mark: "< ")
        if withBodies { lines += Self.lines(responseBody, responseHeaders, redaction, mark: "< ") }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ headers: HTTPHeaders, _ redaction: Redaction, mark: String) -> [String] {
        headers.map { "\(mark)\($0.name.rawValue.escapingControls): \(redaction.value($0.value, of: $0.name, in: headers))" }
    }

    private static func lines(_ body: Body?, _ headers: HTTPHeaders, _ redaction: Redaction, mark: String) -> [String] {
        guard let body, body.size > 0 else { return [] }
        guard let text = redaction.text(body.bytes, contentType: headers[.contentType]) else {
            return ["\(mark)[\(body.size) bytes]"]
        }
        // Both line ends are one character each.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map {
            "\(mark)  \(String($0).escapingControls)"
        }
        return body.isWhole ? lines : lines + ["\(mark)[\(body)]"]
    }
}

private func outcome(_ status: HTTPStatus?, _ failure: String?) -> String {
    failure.map { "✗ \($0)" } ?? "→ \(status.map(String.init(describing:)) ?? "")"
}

extension Duration {
    /// The milliseconds with one digit after the point.
    var inMilliseconds: Double { (self / .microseconds(100)).rounded() / 10 }
}
