public import Interception

/// An interceptor of HTTP requests and responses: the form that every feature of the client has.
///
/// Implement ``intercept(_:next:)`` for full control, or one of the refinements: ``RequestInterceptor``, ``ResponseInterceptor``,
/// ``LifecycleInterceptor``. One instance serves all calls of a client at once.
public protocol HTTPInterceptor: Interceptor where Input == HTTPRequest, Output == HTTPResponse {
    /// Where in the pipeline it belongs; `.attempt` by default, where it sees every answer of the server.
    var stage: InterceptorStage { get }

    /// Where it belongs among those of its stage; `.ordinary` by default, which is inside all others but ``InterceptorRank/innermost``.
    var rank: InterceptorRank { get }

    /// What it promises about its waits, whom it serves and whether it gives up answers; nothing by default. Read when a client is made.
    var traits: InterceptorTraits { get }

    /// Handles one request.
    ///
    /// The contract of `next`:
    /// - It may be called not at all (the interceptor answers by itself), once, or many times, one after the other or at the same
    ///   time, in this task or in others. Each call runs the rest of the pipeline afresh.
    /// - What it returns belongs to the interceptor. Hand one response on, and close the body of each other one
    ///   (``HTTPBody/close()``) or read it to its end: until then it holds its connection. Several may be open at once.
    /// - An interceptor that throws after it got a response closes that. When a response's body is replaced, the new one should close
    ///   the old one with itself, as ``HTTPBody/observedOnArrival(onChunk:onEnd:)`` and ``HTTPBody/mapChunks(length:_:)`` do.
    /// - Requests and responses are values and may be kept, also beyond the call; sent again, a request is a new one.
    /// - Cancelling the task cancels what `next` waits for, which then throws `CancellationError`. Pass that on as it is. Work that
    ///   the interceptor starts in tasks of its own is its own to cancel.
    /// - At the call's deadline the task is cancelled as well, unless ``traits`` say ``InterceptorTraits/endsInTime``. What `next` throws
    ///   then is ``HTTPError/Code/deadlineExceeded``, and so is what becomes of a `CancellationError` of the interceptor's own.
    ///
    /// - Parameters:
    ///   - request: As the interceptor further out passed it on. Change a copy and pass that to `next`.
    ///   - next: The rest of the pipeline.
    /// - Throws: What `next` throws, or an error of its own. It reaches the caller unchanged, unless an interceptor further out
    ///   handles it.
    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse

    /// What ``intercept(_:next:)`` would do to a request on its way down, for ``HTTPClient/explain(_:)`` and for calls that may be shared.
    ///
    /// It must have no effect that others could notice: it sends nothing and stores nothing. An ``HTTPClient`` that it uses all
    /// the same throws ``HTTPError/Code/explaining``, and the explanation shows what would have been sent.
    ///
    /// The refinements plan by running their code for requests. An interceptor that implements ``intercept(_:next:)`` itself isn't
    /// run by an explanation; unless it implements this too, its plan is `.unknown`.
    ///
    /// - Parameter request: Changed as the request would be, as far as that can be known.
    /// - Throws: The error that would keep the request from being sent.
    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan

    /// Whose a request will be after ``intercept(_:next:)``, asked before it by caches, shared calls and quotas further out.
    ///
    /// Implement it in an interceptor that adds a credential which ``plan(_:)`` doesn't show, or can't know yet. `.unknown` by default: a
    /// response isn't stored then if the request that was sent turns out to have more secrets or more items in its query than
    /// the cache saw, and calls are shared only if the plan is ``RequestPlan/known(_:)``.
    ///
    /// - Parameter request: As the interceptor that asks would pass it on.
    /// - Returns: The same for the same credential, also in another process. It may only change when the credential does.
    func identity(of request: HTTPRequest) -> RequestIdentity
}

extension HTTPInterceptor {
    /// `.attempt`.
    public var stage: InterceptorStage { .attempt }

    /// `.ordinary`.
    public var rank: InterceptorRank { .ordinary }

    /// None.
    public var traits: InterceptorTraits { [] }

    /// `.unknown`.
    public func identity(of request: HTTPRequest) -> RequestIdentity { .unknown }

    /// `.unknown`.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .missing }

    /// The interceptor as the generic core knows it; the compiler doesn't convert `any HTTPInterceptor` by itself.
    package var generic: any Interceptor<HTTPRequest, HTTPResponse> { self }
}

private enum InterceptorsKey: RequestContextKey { static var defaultValue: [any HTTPInterceptor] { [] } }

extension HTTPRequest {
    /// Interceptors of this request alone. In each stage they run outside the client's of the same ``InterceptorRank``.
    ///
    /// While a call of the request is under way, one that is made of it within that call doesn't run them again.
    public var interceptors: [any HTTPInterceptor] {
        get { context[InterceptorsKey.self] }
        set { context[InterceptorsKey.self] = newValue }
    }
}
