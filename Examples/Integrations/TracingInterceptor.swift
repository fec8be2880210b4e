import Midstream
import Tracing

/// A span of swift-distributed-tracing, of kind CLIENT, for each exchange; the server's spans continue it.
///
/// Names and attributes are those of OpenTelemetry's conventions for HTTP clients. It stands inside redirects and retries, so that each of
/// them is a span, and what a cache further out answers is none.
struct TracingInterceptor: HTTPInterceptor {
    /// What is withheld of URLs: the client's, which an interceptor can't ask for; the usual names by default.
    var redaction = Redaction()

    var stage: InterceptorStage { .exchange }
    /// It waits for nothing, and adds nothing that depends on the user.
    var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .unknown("would begin a span") }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let span = InstrumentationSystem.tracer.startSpan(name(of: request), ofKind: .client)
        // By hand, since `withSpan` records a cancellation as an error.
        defer { span.end() }
        describe(request, in: span)
        var request = request
        InstrumentationSystem.instrument.inject(span.context, into: &request.headers, using: HeaderInjector())
        do {
            let response = try await ServiceContext.$current.withValue(span.context) { [request] in try await next(request) }
            span.attributes["http.response.status_code"] = response.status.code
            span.attributes["network.peer.address"] = response.metrics?.remoteAddress
            if response.status.code >= 400 { Self.fail(span, "\(response.status.code)") }
            return response
        } catch {
            if !(error is CancellationError) { Self.fail(span, (error as? HTTPError)?.code.rawValue ?? "_OTHER") }
            throw error
        }
    }

    private func name(of request: HTTPRequest) -> String {
        request.route.map { "\(request.method) \(redaction.url($0))" } ?? "\(request.method)"
    }

    private func describe(_ request: HTTPRequest, in span: any Span) {
        span.attributes["http.request.method"] = request.method.rawValue
        span.attributes["url.full"] = redaction.url(request.urlText)
        span.attributes["url.template"] = request.route.map(redaction.url)
        if let origin = HTTPOrigin(request.urlText) {
            span.attributes["server.address"] = origin.host
            span.attributes["server.port"] = origin.port
        }
        if request.attempt > 1 { span.attributes["midstream.attempt"] = request.attempt }
    }

    private static func fail(_ span: any Span, _ type: String) {
        span.attributes["error.type"] = type
        span.setStatus(SpanStatus(code: .error))
    }
}

private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) { headers[HTTPHeaders.Name(key)] = value }
}
