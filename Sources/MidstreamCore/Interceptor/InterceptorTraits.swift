/// What an interceptor promises, for the pipeline and for interceptors further out to go by. By default it promises nothing.
public struct InterceptorTraits: OptionSet, Sendable, Hashable {
    /// The promises as bits.
    public let rawValue: UInt8

    /// Makes a set of promises of their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It waits for nothing but `next`, and for what it ends by itself when no time is left, as ``Next/withinTimeLeft(_:)`` does.
    ///
    /// Any other interceptor may wait for ever. So in a call with a deadline it runs in a child task, with all that lies further in,
    /// and is cancelled when the deadline has passed. One that doesn't keep the promise holds up calls beyond their deadlines: the law
    /// `endsInTime` of `MidstreamTesting` finds it out.
    public static let endsInTime = InterceptorTraits(rawValue: 1)

    /// It does the same to all requests, whoever makes them, although it may not know beforehand what that will be. Caches, shared calls and
    /// quotas don't ask it whose a request is. One that adds credentials must not have this trait: users could get each other's responses. The
    /// law `impersonal` of `MidstreamTesting` detects added secret fields and query items, not other fields, the path or the body.
    public static let impersonal = InterceptorTraits(rawValue: 2)

    /// It may send a request again in place of an answer that nobody further out gets, such as a challenge, and calls
    /// ``HTTPRequest/giveUp(_:)`` before it does.
    ///
    /// Interceptors further out that want to see such answers, as the one for cookies does, ask for them only if somebody has this trait.
    public static let givesUpAnswers = InterceptorTraits(rawValue: 4)
}
