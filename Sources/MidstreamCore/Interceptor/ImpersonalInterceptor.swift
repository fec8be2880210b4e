/// An interceptor that does the same to all requests, whoever makes them, although it can't tell beforehand what that will be.
///
/// Whoever wants to know whose a request is needn't ask it.
package protocol ImpersonalInterceptor: HTTPInterceptor {}

/// An interceptor that waits for nothing but what lies further in, and for what it bounds itself by ``Next/timeLeft``.
///
/// Where all of a pipeline are such, nobody has to be interrupted by a deadline: the exchange, which knows of it, ends by then.
package protocol PunctualInterceptor: HTTPInterceptor {
    /// Whether it is, with the settings that it has; true by default.
    var isPunctual: Bool { get }
}

extension PunctualInterceptor {
    package var isPunctual: Bool { true }
}

/// An interceptor that calls nobody's code but what lies further in, and finds its position in ``Next``.
///
/// While such a one is at work nobody asks the task for its position, so the task needn't be told.
package protocol SecludedInterceptor: HTTPInterceptor {
    /// Whether it is, with the settings that it has; true by default.
    var isSecluded: Bool { get }
}

extension SecludedInterceptor {
    package var isSecluded: Bool { true }
}
