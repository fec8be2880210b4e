/// When, and after what, an attempt is repeated.
///
/// The delay before the n-th retry (1, 2, 3 …) is measured on the client's clock. On a 429, 503 or 529 with `Retry-After` it is at least
/// what the server asks for, up to ``HTTPClient/Configuration/maximumRetryAfter``, except for ``custom(_:)``.
public struct RetryStrategy: Sendable {
    enum Kind: Sendable {
        case delay(Backoff)
        case custom(@Sendable (HTTPRequest) -> Duration)
        case after(HTTPRequest, delay: Duration, then: @Sendable (inout HTTPRequest, HTTPResponse) async throws -> Void)
        case afterTask(
            delay: Duration, work: @Sendable (inout HTTPRequest) async throws -> Void,
            onError: (@Sendable (any Error) async -> Void)?)
    }

    let kind: Kind
    /// Whether the library asks for the retry by default, not the user: then the budget and the rules of resending apply.
    var isAutomatic = false
    /// Whether a response goes on to the other validators when no retry can be made, instead of failing the call.
    var isPreference = false

    /// At once.
    public static let immediate = RetryStrategy(kind: .delay(.constant(.zero)))

    /// After a constant time.
    public static func delayed(_ delay: Duration) -> RetryStrategy { RetryStrategy(kind: .delay(.constant(delay))) }

    /// After base · multiplierⁿ⁻¹, at most `cap`.
    ///
    /// - Parameters:
    ///   - base: Before the first retry; 0.5 s by default.
    ///   - multiplier: 2 by default.
    ///   - cap: 30 s by default.
    ///   - jitter: How the delay is spread; ``Jitter/full`` by default, so that clients that failed together don't come back together.
    public static func exponential(
        base: Duration = .milliseconds(500), multiplier: Double = 2, cap: Duration = .seconds(30), jitter: Jitter = .full
    ) -> RetryStrategy {
        RetryStrategy(kind: .delay(.exponential(base: base, multiplier: multiplier, cap: cap, jitter: jitter)))
    }

    /// After unit · 1, 1, 2, 3, 5 …, at most `cap`.
    ///
    /// - Parameters:
    ///   - unit: 1 s by default.
    ///   - cap: 30 s by default.
    public static func fibonacci(unit: Duration = .seconds(1), cap: Duration = .seconds(30)) -> RetryStrategy {
        RetryStrategy(kind: .delay(.fibonacci(unit: unit, cap: cap)))
    }

    /// After another request, such as one for a new token.
    ///
    /// It is sent by the same client, without the validator that asks for it, and shared by all calls that ask for the same one
    /// at the same time; each waits for it until its own time is over. When it fails, `then` isn't called and the call ends with
    /// ``HTTPError/Code/authentication`` (after a 401, 403 or 407) or ``HTTPError/Code/validation``, which carries both failures. One
    /// alternate request and one resend are made even where `maxRetries` is 0.
    ///
    /// - Parameters:
    ///   - alternate: The other request.
    ///   - delay: How long to wait between `then` and the retry.
    ///   - then: Gets the original request, to be changed, and the response to the alternate one. What it throws ends the call.
    public static func after(
        _ alternate: HTTPRequest, delay: Duration = .zero,
        then: @escaping @Sendable (inout HTTPRequest, HTTPResponse) async throws -> Void = { _, _ in }
    ) -> RetryStrategy {
        RetryStrategy(kind: .after(alternate, delay: delay, then: then))
    }

    /// After a piece of work on the original request.
    ///
    /// An error of the work goes to `onError`, and the original is sent again all the same, without what the work changed before
    /// it failed. One such retry is made even where `maxRetries` is 0.
    ///
    /// - Parameters:
    ///   - delay: How long to wait between the work and the retry.
    ///   - work: Gets the original request, to be changed.
    ///   - onError: Hears of an error of the work.
    public static func afterTask(
        delay: Duration = .zero, _ work: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
        onError: (@Sendable (any Error) async -> Void)? = nil
    ) -> RetryStrategy {
        RetryStrategy(kind: .afterTask(delay: delay, work: work, onError: onError))
    }

    /// After the time that the closure returns; it gets the request of the failed attempt.
    public static func custom(_ delay: @escaping @Sendable (HTTPRequest) -> Duration) -> RetryStrategy {
        RetryStrategy(kind: .custom(delay))
    }

    /// The delay before a retry, for who repeats something else than an attempt.
    ///
    /// - Parameters:
    ///   - retry: 1 for the first.
    ///   - previous: The delay before the retry before; nil for the first.
    ///   - random: Gives numbers in 0...1.
    package func delay(
        beforeRetry retry: Int, previous: Duration?, of request: HTTPRequest, random: () -> Double
    ) -> Duration {
        switch kind {
        case .delay(let backoff): backoff.delay(beforeRetry: retry, previous: previous, random: random)
        case .custom(let delay): max(.zero, delay(request))
        case .after(_, let delay, _), .afterTask(let delay, _, _): delay
        }
    }

    /// The delay that is kept where a server asks for patience: at least what it asks for, unless the user decides alone.
    ///
    /// - Parameter asked: nil: nothing.
    package func delay(_ own: Duration, atLeast asked: Duration?) -> Duration {
        if case .custom = kind { return own }
        return max(own, asked ?? .zero)
    }

    /// Whether something else is done before the retry.
    var isAlternate: Bool {
        switch kind {
        case .after, .afterTask: true
        case .delay, .custom: false
        }
    }
}

extension RetryStrategy {
    /// How a delay is spread, so that many clients don't come back at the same moment.
    public struct Jitter: Sendable, Hashable, ExpressibleByBooleanLiteral {
        enum Kind: Sendable { case off, full, decorrelated }
        let kind: Kind

        /// Not at all.
        public static let off = Jitter(kind: .off)
        /// Anything from zero to the computed delay.
        public static let full = Jitter(kind: .full)
        /// Anything from the base to three times the delay before, whatever the multiplier; the cap holds.
        public static let decorrelated = Jitter(kind: .decorrelated)

        private init(kind: Kind) { self.kind = kind }

        /// True is ``full``, false is ``off``.
        public init(booleanLiteral value: Bool) { self = value ? .full : .off }
    }
}
