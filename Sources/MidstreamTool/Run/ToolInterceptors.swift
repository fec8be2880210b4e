import Midstream

/// Has an attempt's timeout hold for the body of its answer as well: of a stream the client's ends with the head.
struct BodyTimeout: HTTPInterceptor {
    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var response = try await next(request)
        let end = next.position.timeout
        guard end != .max, let call = next.call, !response.isWhole else { return response }
        response.body = response.body.timed(until: .nanoseconds(end), of: call.stopwatch) { .timedOut(phase: .answered) }
        return response
    }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("limits the body as well") }
}

/// Leaves the transport's measurements in the trace.
struct WireTimes: HTTPInterceptor {
    let stage = InterceptorStage.exchange

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let response = try await next(request)
        if let metrics = response.metrics { request.note(Self.text(metrics, response.version)) }
        return response
    }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("notes the connection's times") }

    private static func text(_ metrics: TransportMetrics, _ version: HTTPVersion) -> String {
        var parts = ["\(version)"]
        if let tls = metrics.tlsVersion { parts.append(tls) }
        if let address = metrics.remoteAddress { parts.append(metrics.remotePort.map { "\(address) port \($0)" } ?? address) }
        if let isReused = metrics.isReusedConnection { parts.append(isReused ? "kept connection" : "new connection") }
        let times: [(String, Duration?)] = [
            ("lookup", metrics.nameLookup), ("connect", metrics.connect), ("tls", metrics.tlsHandshake),
            ("first byte", metrics.firstByte), ("total", metrics.total),
        ]
        parts += times.compactMap { name, time in time.map { "\(name) \(($0 * 1_000).text(digits: 2)) ms" } }
        return parts.joined(separator: ", ")
    }
}

extension Duration {
    /// So many digits behind the point of the seconds. Foundation's formats load the data of all languages, which takes longer than a request.
    func text(digits: Int) -> String {
        let fraction = "\(components.attoseconds)"
        let zeros = String(repeating: "0", count: max(0, 18 - fraction.count))
        return "\(components.seconds).\((zeros + fraction).prefix(digits))"
    }
}

/// Prints what goes on the wire and what comes back, secrets withheld.
struct WireLog: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    var print: @Sendable (String) -> Void = { Terminal.printError($0) }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        show(request.debugDescription, mark: ">")
        let response = try await next(request)
        show(response.debugDescription, mark: "<")
        return response
    }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("prints the exchange") }

    private func show(_ text: String, mark: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { print("\(mark) \(line)") }
    }
}
