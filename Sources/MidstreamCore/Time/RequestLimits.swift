private enum TimeoutKey: RequestContextKey {
    static var defaultValue: Duration? { nil }
}

private enum DeadlineKey: RequestContextKey {
    static var defaultValue: Duration? { nil }
}

extension HTTPRequest {
    /// How long one attempt may take; nil: the client's. Zero or less is over at once.
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

    /// How long the whole call may take, retries, waits and interceptors included; nil: the client's. Zero or less is over at once.
    /// It cancels whatever is going on.
    ///
    /// Read when the call begins, and again before its first attempt: an interceptor that sets it has to stand at
    /// ``InterceptorStage/call``, and counts from the start of the call.
    public var deadline: Duration? {
        get { context[DeadlineKey.self] }
        set { context[DeadlineKey.self] = newValue }
    }
}
