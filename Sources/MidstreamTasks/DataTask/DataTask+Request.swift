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
            let others = request.headers
            request.headers = headers
            request.headers.merge(defaults: others)
        }
    }

    /// With one more query item; with none when the value is nil.
    public func query(_ name: String, _ value: String?) -> DataTask { with { $0.addQuery(name, value) } }

    /// With one more query item, of a number, a truth value and the like; with none when the value is nil.
    @_disfavoredOverload
    public func query(_ name: String, _ value: (some LosslessStringConvertible)?) -> DataTask {
        with { $0.addQuery(name, value) }
    }

    /// With a bare name in the query.
    public func query(_ name: String) -> DataTask { with { $0.addQuery(name) } }

    /// With a query item of several values; see ``HTTPRequest/addQuery(_:_:as:)``.
    public func query(
        _ name: String, _ values: [some LosslessStringConvertible], as style: HTTPRequest.QueryArrayStyle = .repeated
    ) -> DataTask { with { $0.addQuery(name, values, as: style) } }

    /// With the items of a dictionary, in the order of their names; those without a value are left out.
    @_disfavoredOverload
    public func query(_ items: [String: (any LosslessStringConvertible)?]) -> DataTask { with { $0.addQuery(items) } }

    /// With the fields of a value as query items; see ``HTTPRequest/addQuery(encoding:as:)``.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` for a value without names, or with values within values; what the value throws.
    public func query(encoding value: some Encodable, as style: HTTPRequest.QueryArrayStyle = .repeated) throws -> DataTask {
        try with { try $0.addQuery(encoding: value, as: style) }
    }

    /// With more query items, in order; those without a value are left out.
    ///
    /// ```swift
    /// client.get("posts").query(["page": 2, "drafts": true, "after": cursor])
    /// ```
    public func query(_ items: KeyValuePairs<String, (any LosslessStringConvertible)?>) -> DataTask {
        with { $0.addQuery(items) }
    }

    /// With a body.
    public func body(_ body: HTTPBody) -> DataTask { with { $0.body = body } }

    /// With a value as its body.
    ///
    /// - Parameter encoder: nil, the default: the client's (``HTTPClient/Configuration/encoder``).
    /// - Throws: What the encoder throws.
    public func json(_ value: some Encodable, encoder: (any BodyEncoder)? = nil) throws -> DataTask {
        body(try .encoded(value, by: encoder ?? client.configuration.encoder))
    }

    /// With another decoder for its answer than the client's.
    public func decoder(_ decoder: any BodyDecoder) -> DataTask { with { $0.decoder = decoder } }

    /// With reports of how much of the bodies has gone over the wire; see ``RequestTask/progress(_:_:)``.
    ///
    /// ```swift
    /// try await client.get("film").progress(.download) { print($0.fraction ?? 0) }.data()
    /// ```
    ///
    /// Each body counts by itself: where a download to a file takes several answers, its own closure tells of the file.
    public func progress(
        _ direction: TransferProgress.Direction? = nil, _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> DataTask {
        interceptor(TransferInterceptor(observer: TransferObserver(direction, report)))
    }

    /// With a limit on how long one attempt may take; zero or less: it is over at once. See ``HTTPRequest/timeout``.
    public func timeout(_ timeout: Duration) -> DataTask { with { $0.timeout = timeout } }

    /// With a limit on how long the whole call may take, retries and waits included; see ``HTTPRequest/deadline``.
    public func deadline(_ deadline: Duration) -> DataTask { with { $0.deadline = deadline } }

    /// With a number of retries, made by the client where its validators ask for them.
    public func retries(_ retries: Int) -> DataTask { with { $0.maxRetries = retries } }

    /// With the permission to send it again after a failure although its method isn't idempotent.
    public func allowsUnsafeRetry(_ isAllowed: Bool = true) -> DataTask { with { $0.allowsUnsafeRetry = isAllowed } }

    /// With another way to treat redirects than the client's.
    public func redirects(_ policy: RedirectPolicy) -> DataTask { with { $0.redirects = policy } }

    /// With the statuses that are answers to it, `.all` for every one.
    public func acceptableStatus(_ statuses: HTTPStatusSet) -> DataTask { with { $0.acceptableStatus = statuses } }

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
