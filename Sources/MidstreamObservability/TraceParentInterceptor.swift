internal import Interception
public import MidstreamCore

/// Tells servers which distributed trace a request belongs to, by `traceparent` and `tracestate` (W3C Trace Context).
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { .traceparent }
/// ```
///
/// The trace is that of the request (``HTTPRequest/traceParent``), or of the task (``TraceParent/current``), or else a new
/// one for the call. Each request on the wire, each retry and each redirect too, is a span of its own. A `traceparent` that the request
/// has itself is kept. The fields go to every origin, or to those that are named; they say nothing about the user.
public struct TraceParentInterceptor: RequestInterceptor {
    private let origins: Set<HTTPOrigin>?

    /// Makes an interceptor.
    ///
    /// - Parameter origins: URLs whose origins get the fields; nil, the default: all.
    public init(propagatesTo origins: [String]? = nil) { self.origins = origins.map { Set($0.compactMap(HTTPOrigin.init)) } }

    /// `.exchange`.
    public var stage: InterceptorStage { .exchange }
    /// It waits for nothing, and serves all alike.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    /// Adds the fields.
    public func intercept(request: inout HTTPRequest) async throws {
        if let span = addSpan(to: &request) { request.note("span \(span.spanID)") }
    }

    /// Adds the fields with another span than the one that is sent.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        addSpan(to: &request) == nil ? .known("adds no traceparent") : .unknown("would give the span another number")
    }

    /// Adds the fields of a new span; nil: the request gets none.
    private func addSpan(to request: inout HTTPRequest) -> TraceParent? {
        guard !request.headers.contains("traceparent") else { return nil }
        if let origins, HTTPOrigin(request.urlText).map(origins.contains) != true { return nil }
        let span = (request.traceParent ?? TraceParent.current ?? TraceParent(of: request)).child()
        request.headers["traceparent"] = span.description
        request.headers["tracestate"] = span.state
        return span
    }
}

private enum TraceParentKey: RequestContextKey { static var defaultValue: TraceParent? { nil } }

extension HTTPRequest {
    /// The span that the request is a child of; nil: that of the present task (``TraceParent/current``).
    public var traceParent: TraceParent? {
        get { context[TraceParentKey.self] }
        set { context[TraceParentKey.self] = newValue }
    }
}

extension ChainedHTTPInterceptor {
    /// Tells servers which distributed trace a request belongs to; see ``TraceParentInterceptor``.
    public static var traceparent: Self { .chain(inOrder: [TraceParentInterceptor()]) }
}

extension HTTPInterceptor {
    /// This one, and ``ChainedHTTPInterceptor/traceparent`` inside it.
    public var traceparent: ChainedHTTPInterceptor { chain(before: TraceParentInterceptor()) }
}
