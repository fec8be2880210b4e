/// What a request says about how long it may take and how often it may be sent; nil: what the client says.
///
/// It has a place of its own in the request's context: a call reads it several times, and finding a value by its key costs more than that.
package struct RequestLimits: Hashable, Sendable {
    package var timeout: Duration?
    package var deadline: Duration?
    package var maxRetries: Int?
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
        get { limits.timeout }
        set { limits.timeout = newValue }
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
        get { limits.deadline }
        set { limits.deadline = newValue }
    }

    /// How many times the call may be retried, 0 for never; nil, which is also `.none`: as the client says. Read before the first attempt: an interceptor that sets it has to stand
    /// at ``InterceptorStage/call``.
    public var maxRetries: Int? {
        get { limits.maxRetries }
        set { limits.maxRetries = newValue }
    }
}
