internal import Interception
public import MidstreamCore

/// Ready-made sets of interceptors against failures.
public enum Resilience {
    /// The set for most clients: a ``ConcurrencyLimit``, a ``CircuitBreaker``, three retries within the client's budget (as many as its
    /// `maxRetries` where that is set), 10 s for each attempt and 30 s for the call.
    ///
    /// ```swift
    /// let client = HTTPClient(baseURL: "https://api.example.com") { Resilience.standard }
    /// ```
    ///
    /// New each time, since its state belongs to one client. `Hedging()` and the like can stand beside it in any order.
    public static var standard: ChainedHTTPInterceptor { standard() }

    /// ``standard`` with other limits.
    ///
    /// - Parameters:
    ///   - maxRetries: Of requests that set none. nil, the default: the client's
    ///     (``HTTPClient/Configuration/maxRetries``), and 3 where that isn't set either.
    ///   - timeout: Of requests that set none: the longest that an attempt may take, unless the client allows less; 10 s by default.
    ///   - deadline: Of requests that set none: the longest that a call may take, unless the client allows less; 30 s by default.
    public static func standard(
        maxRetries: Int? = nil, timeout: Duration = .seconds(10), deadline: Duration = .seconds(30)
    ) -> ChainedHTTPInterceptor {
        .chain(inOrder: [
            StandardLimits(maxRetries: maxRetries, timeout: timeout, deadline: deadline), CircuitBreaker(), ConcurrencyLimit(),
        ])
    }
}

/// Sets the number of retries and the times of requests that don't set them themselves.
struct StandardLimits: HTTPInterceptor {
    let maxRetries: Int?
    let timeout: Duration
    let deadline: Duration

    var stage: InterceptorStage { .call }
    var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        limit(&request, next.call)
        return try await next(request)
    }

    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        limit(&request, ChainPosition.current?.call)
        return .known(
            "\(request.maxRetries ?? 0) retries, \((request.timeout ?? timeout).brief) for an attempt, "
                + "\((request.deadline ?? deadline).brief) for the call")
    }

    private func limit(_ request: inout HTTPRequest, _ call: Call?) {
        let own = call?.owner.limits
        var limits = request.limits
        if limits.maxRetries == nil { limits.maxRetries = maxRetries ?? own?.maxRetries ?? 3 }
        if limits.timeout == nil { limits.timeout = min(timeout, own?.timeout ?? timeout) }
        if limits.deadline == nil { limits.deadline = min(deadline, own?.deadline ?? deadline) }
        request.limits = limits
    }
}
