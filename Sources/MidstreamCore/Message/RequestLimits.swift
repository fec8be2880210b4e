/// A request's limits of time and retries; nil: the client's.
///
/// Stored beside the context's values, since a call reads it several times and a lookup by key costs more.
package struct RequestLimits: Hashable, Sendable {
    package var timeout: Duration?
    package var deadline: Duration?
    package var maxRetries: Int?
    package var deadlineCoversBody: Bool?

    /// These, and others where one is nil.
    func over(_ others: RequestLimits) -> RequestLimits {
        RequestLimits(
            timeout: timeout ?? others.timeout, deadline: deadline ?? others.deadline,
            maxRetries: maxRetries ?? others.maxRetries,
            deadlineCoversBody: deadlineCoversBody ?? others.deadlineCoversBody)
    }
}

extension HTTPRequest {
    /// How long one attempt may take; nil: the client's. `.unlimited`: no limit. Zero or less fails immediately.
    ///
    /// It counts from the attempt's start, redirects included, to the last byte that is buffered; for a streamed response to the
    /// head. It ends the exchange that is on the wire. An interceptor that waits for something of its own isn't interrupted by
    /// it, but by the ``deadline``; its next exchange then finds the time used up.
    ///
    /// An interceptor may set it at any stage. At ``InterceptorStage/call`` it is each attempt's; further in it takes the place of the
    /// attempt's from the end of that stage on, and counts from there: at ``InterceptorStage/attempt`` for redirects and exchanges, at
    /// ``InterceptorStage/exchange`` for the one exchange with the server. For the rest of the stage the attempt's holds.
    public var timeout: Duration? {
        get { limits.timeout }
        set { limits.timeout = newValue }
    }

    /// How long the whole call may take, retries, waits and interceptors included, up to the head of a streamed response unless
    /// ``deadlineCoversBody``; nil: the client's. `.unlimited`: none. Zero or less fails immediately. Whatever is going on ends with
    /// ``HTTPError/Code/deadlineExceeded``, which all interceptors see as it is.
    ///
    /// It counts from the start of the call, wherever an interceptor sets it. Of several the earliest holds: that of a call within which this
    /// one is made, on the same clock, as well, even after that call when a `Task` that was begun within it makes this one. Set by an
    /// interceptor it holds from the end of its stage on, and no retry is made that would pass it; an interceptor that waits between there
    /// and the end of the stage isn't interrupted by it. A longer one than holds already comes too late, as a note in the trace says.
    public var deadline: Duration? {
        get { limits.deadline }
        set { limits.deadline = newValue }
    }

    /// Whether a streamed body has to be read to its end before the deadline as well, or fails with
    /// ``HTTPError/Code/deadlineExceeded``; nil: the client's (``HTTPClient/Configuration/deadlineCoversBody``). A buffered body is covered
    /// in any case.
    public var deadlineCoversBody: Bool? {
        get { limits.deadlineCoversBody }
        set { limits.deadlineCoversBody = newValue }
    }

    /// How many times the call may be retried, 0 for never; nil: the client's. Set by an interceptor behind ``InterceptorStage/call`` it
    /// counts from that interceptor's attempt on.
    public var maxRetries: Int? {
        get { limits.maxRetries }
        set { limits.maxRetries = newValue }
    }
}
