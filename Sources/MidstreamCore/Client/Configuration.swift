public import Foundation

extension HTTPClient {
    /// The settings of a client. What a request sets itself wins.
    public struct Configuration: Sendable {
        /// Header fields for every request; a request's own field of the same name wins. `User-Agent` by default.
        ///
        /// Those that are secret (``HTTPHeaders/isSensitive(_:)``) are the client's credentials: when it has a base URL they go to
        /// that one's origin alone. For others there are authenticators with their `origins`.
        public var headers: HTTPHeaders = ["User-Agent": "Midstream"]
        /// Query items for every request, after the request's own; none by default. Those with names of secrets, such as `api_key`, go
        /// to the base URL's origin alone, when there is one.
        public var query: [(String, String)] = []
        /// How long one attempt may take, redirects included; 60 s by default, nil: no limit. Zero or less is over at once. See
        /// ``HTTPRequest/timeout``.
        public var timeout: Duration? = .seconds(60)
        /// How long a whole call may take, retries and waits included; no limit by default. A wait that would pass it isn't begun:
        /// the call ends with the last outcome.
        public var deadline: Duration?
        /// How many times a call may be retried; 0 by default.
        public var maxRetries = 0
        /// Who judges responses, in order; the ``DefaultValidator`` by default.
        public var validators: [any HTTPValidator] = [DefaultValidator()]
        /// How many retries all calls together may make; by default a fifth of the calls, and ten. Nil: any number.
        public var retryBudget: RetryBudget? = RetryBudget()
        /// The longest `Retry-After` that is honoured; a longer one is cut to it. 60 s by default.
        public var maximumRetryAfter = Duration.seconds(60)
        /// Whether, after a 429 or 503 with `Retry-After`, the client's other requests to that origin wait too; false by default.
        public var sharesRetryAfter = false
        /// What to do about redirects; up to 10 are followed by default.
        public var redirects = RedirectPolicy.follow(limit: 10)
        /// The largest body that ``HTTPClient/send(_:)->HTTPResponse`` takes into memory, in decoded bytes; 64 MiB by default.
        public var maximumBufferedBody = HTTPBody.defaultCollectLimit
        /// The clock that time is measured by: backoff, timeouts, deadlines, and the windows of budgets.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The time of day, which dates in messages are compared with; the system's by default.
        public var now: @Sendable () -> Date = { Date() }
        /// Gives numbers in 0..<1 for the jitter of backoff; the system's random numbers by default.
        public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
        /// Whether what happens to each request is recorded, so that responses and errors carry a trace; true by default. Costs
        /// a fifth of a microsecond per interceptor.
        public var recordsTrace = true

        /// The defaults.
        public init() {}
    }
}

extension HTTPClient.Configuration {
    var arbiterSettings: ArbiterSettings {
        var settings = ArbiterSettings()
        settings.timeout = timeout
        settings.deadline = deadline
        settings.maxRetries = maxRetries
        settings.validators = validators
        settings.retryBudget = retryBudget
        settings.maximumRetryAfter = maximumRetryAfter
        settings.sharesRetryAfter = sharesRetryAfter
        settings.clock = clock
        settings.now = now
        settings.random = random
        return settings
    }
}
