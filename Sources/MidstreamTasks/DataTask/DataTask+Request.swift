public import MidstreamCore

/// What is sent. Each of these gives a task with one thing about its request changed.
extension DataTask {
    /// With any change to the request.
    public func with(_ change: (inout HTTPRequest) throws -> Void) rethrows -> DataTask {
        var task = self
        try change(&task.request)
        return task
    }

    /// With a header field in place of those of the name, the client's included.
    public func header(_ name: HTTPHeaders.Name, _ value: String) -> DataTask { with { $0.headers[name] = value } }

    /// With several header fields, each in place of those of its name.
    public func headers(_ headers: HTTPHeaders) -> DataTask {
        with { request in
            let names = Set(headers.lazy.map(\.name))
            request.headers.removeAll(where: names.contains)
            for (name, value) in headers { request.headers.add(name, value) }
        }
    }

    /// With one more query item; without a value it is just the name.
    public func query(_ name: String, _ value: String?) -> DataTask { with { $0.addQuery(name, value) } }

    /// With more query items, in order.
    public func query(_ items: KeyValuePairs<String, String?>) -> DataTask {
        with { request in
            for (name, value) in items { request.addQuery(name, value) }
        }
    }

    /// With a body.
    public func body(_ body: HTTPBody) -> DataTask { with { $0.body = body } }

    /// With a limit on how long one attempt may take; zero or less: it is over at once. See ``HTTPRequest/timeout``.
    public func timeout(_ timeout: Duration) -> DataTask { with { $0.timeout = timeout } }

    /// With a limit on how long the whole call may take, retries and waits included.
    public func deadline(_ deadline: Duration) -> DataTask { with { $0.deadline = deadline } }

    /// With a number of retries, made by the client where its validators ask for them.
    public func retries(_ retries: Int) -> DataTask { with { $0.maxRetries = retries } }

    /// With the permission to send it again after a failure although its method isn't idempotent.
    public func allowsUnsafeRetry(_ isAllowed: Bool = true) -> DataTask { with { $0.allowsUnsafeRetry = isAllowed } }

    /// With another way to treat redirects than the client's.
    public func redirects(_ policy: RedirectPolicy) -> DataTask { with { $0.redirects = policy } }

    /// With other validators than the client's; none: every response is accepted.
    public func validators(_ validators: [any HTTPValidator]) -> DataTask { with { $0.validators = validators } }

    /// With one more interceptor of the request's own, inside those that it has.
    public func interceptor(_ interceptor: some HTTPInterceptor) -> DataTask { with { $0.interceptors.append(interceptor) } }

    /// With more interceptors of the request's own, the first listed outermost.
    public func interceptors(@PipelineBuilder _ interceptors: () -> [any HTTPInterceptor]) -> DataTask {
        with { $0.interceptors += interceptors() }
    }

    /// With a value for interceptors; it never goes on the wire.
    public func context<Key: RequestContextKey>(_ key: Key.Type, _ value: Key.Value) -> DataTask {
        with { $0.context[key] = value }
    }
}
