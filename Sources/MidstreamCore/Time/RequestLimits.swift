private enum TimeoutKey: RequestContextKey {
    static var defaultValue: Duration? { nil }
}

private enum DeadlineKey: RequestContextKey {
    static var defaultValue: Duration? { nil }
}

extension HTTPRequest {
    /// How long one attempt may take; nil, which is also `.none`: the client's. `.unlimited` lifts that for one request. Zero or less is
    /// over at once.
    ///
    /// It counts from the attempt's start, redirects included, to the last byte that is buffered; for a streamed response to the
    /// head. It ends the exchange that is on the wire. An interceptor that waits for something of its own isn't interrupted by
    /// it, but by the ``deadline``; its next exchange then finds the time used up.
    ///
    /// Read when an attempt begins: an interceptor that sets it has to stand at ``InterceptorStage/call``.
    public var timeout: Duration? {
        get { context[TimeoutKey.self] }
        set { context[TimeoutKey.self] = newValue }
    }

    /// How long the whole call may take, retries, waits and interceptors included; nil, which is also `.none`: the client's. `.unlimited`
    /// lifts that for one request. Zero or less is over at once. It cancels whatever is going on.
    ///
    /// Interceptors at ``InterceptorStage/call`` see ``HTTPError/Code/deadlineExceeded``, and those further in a `CancellationError`, which
    /// ``isPastDeadline`` tells from one that the call's user has caused.
    ///
    /// Read when the call begins, and again before its first attempt: an interceptor that sets it has to stand at
    /// ``InterceptorStage/call``, and counts from the start of the call.
    public var deadline: Duration? {
        get { context[DeadlineKey.self] }
        set { context[DeadlineKey.self] = newValue }
    }
}
