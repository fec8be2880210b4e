public import Foundation

extension HTTPClient {
    /// The settings of a client. What a request sets itself wins.
    public struct Configuration: Sendable {
        /// Header fields for every request; a request's own field of the same name wins. `User-Agent` by default.
        ///
        /// Those that are secret (``HTTPHeaders/isSensitive(_:)``) are the client's credentials: when it has a base URL they go to
        /// that one's origin alone, an http one's host by https included. For others there are authenticators with their `origins`.
        public var headers: HTTPHeaders
        /// Query items for every request, after the request's own; none by default. An item that a request has already, name and value, isn't
        /// added again. Those with names of secrets, such as `api_key`, go to the base URL's origin alone, when there is one. A URL that a
        /// server names in an answer, as a redirect's target or an upload's place, is used as it is, since it may be signed; what such URLs
        /// need as well is for an interceptor, such as `APIKeyInterceptor`, to add.
        public var query: [(String, String)]
        /// How long one attempt may take, redirects included; 60 s by default, nil: no limit. Zero or less is over at once. See
        /// ``HTTPRequest/timeout``.
        public var timeout: Duration?
        /// How long a whole call may take, retries and waits included, up to the head of a streamed response; no limit by default. A wait
        /// that would pass it isn't begun: the call ends with the last outcome.
        public var deadline: Duration?
        /// Whether the deadline covers streamed bodies as well; false by default. See ``HTTPRequest/deadlineCoversBody``. Downloads to files
        /// and ``HTTPClient/events(_:silenceLimit:lineLimit:eventLimit:onReconnect:)`` are covered whatever is set here.
        public var deadlineCoversBody: Bool
        /// How many times a call may be retried; 0 by default, where no interceptor such as `Resilience.standard` has another default.
        public var maxRetries: Int {
            get { givenRetries ?? 0 }
            set { givenRetries = newValue }
        }
        /// Nil: not said.
        private(set) var givenRetries: Int?
        /// Who judges responses, in order; the ``DefaultValidator`` by default.
        public var validators: [any HTTPValidator]
        /// What the retries of all calls together may cost, 1 each after 429 and 503, otherwise 2; by default a fifth of the calls that may be
        /// retried, and ten. Nil: any number.
        public var retryBudget: RetryBudget?
        /// The longest `Retry-After` that is honoured; a longer one is cut to it. 60 s by default.
        public var maximumRetryAfter: Duration
        /// Whether, after a 429, 503 or 529 with `Retry-After`, the client's other calls to that origin wait too, before each attempt;
        /// false by default. Hops of redirects don't: they have only what is left of the time of an attempt.
        public var sharesRetryAfter: Bool
        /// What to do about redirects; up to 10 are followed by default.
        public var redirects: RedirectPolicy
        /// The largest body that ``HTTPClient/send(_:)->HTTPResponse`` takes into memory, in decoded bytes; 64 MiB by default.
        public var maximumBufferedBody: Int
        /// What decodes the bodies of responses where nothing else is given; a plain `JSONDecoder` by default.
        public var decoder: any BodyDecoder
        /// What encodes values that are sent, by `client.post(_:json:)` and the like; a plain `JSONEncoder` by default.
        public var encoder: any BodyEncoder
        /// The clock that the client and its interceptors wait and measure by: backoff, timeouts, deadlines, windows of budgets, breakers and
        /// quotas, hedges, pauses before reconnections, durations of calls and exchanges in records. Transports and traces, whose spans
        /// records have, go by the system's; what takes a clock itself, such as authentication and fleets, goes by that.
        /// Clients that share an interceptor need the same clock, since the times of two can't be compared.
        public var clock: any Clock<Duration>
        /// The time of day, which dates in messages are compared with; the system's by default.
        public var now: @Sendable () -> Date
        /// Gives numbers in 0..<1 for the jitter of backoff; the system's random numbers by default. Others count as 0 or 1, whichever is
        /// nearer, and what is no number as 0.
        public var random: @Sendable () -> Double {
            didSet { random = Self.bounded(random) }
        }
        /// Whether what happens to each request is recorded, so that responses and errors carry a trace; true by default. Costs
        /// a fifth of a microsecond per interceptor.
        public var recordsTrace: Bool
        /// Who reads the record of each call; nobody by default. Without observers and ``keepsCapsules`` no records are made; traces don't
        /// depend on it.
        public var observers: [any CallObserver]
        /// What is withheld where records of calls, traces and explanations are shown, beside what always is.
        public var redaction: Redaction
        /// Whether errors carry the record of their call (``HTTPError/callRecord``) with up to 64 KiB of each body, also without observers;
        /// false by default. If it is false, errors carry the record only where there are observers, and without bodies.
        public var keepsCapsules: Bool

        /// Makes settings; every parameter's default is the property's. `maxRetries: nil` stands for 0, unless an interceptor has
        /// another default.
        ///
        /// ```swift
        /// let client = HTTPClient(baseURL: "https://api.example.com", configuration: .init(timeout: .seconds(10), maxRetries: 2))
        /// ```
        public init(
            headers: HTTPHeaders = ["User-Agent": "Midstream"],
            query: [(String, String)] = [],
            timeout: Duration? = .seconds(60),
            deadline: Duration? = nil,
            deadlineCoversBody: Bool = false,
            maxRetries: Int? = nil,
            validators: [any HTTPValidator] = [DefaultValidator()],
            retryBudget: RetryBudget? = RetryBudget(),
            maximumRetryAfter: Duration = .seconds(60),
            sharesRetryAfter: Bool = false,
            redirects: RedirectPolicy = .follow(limit: 10),
            maximumBufferedBody: Int = HTTPBody.defaultCollectLimit,
            decoder: any BodyDecoder = JSONDecoder(),
            encoder: any BodyEncoder = JSONEncoder(),
            clock: any Clock<Duration> = ContinuousClock(),
            now: @escaping @Sendable () -> Date = { Date() },
            random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
            recordsTrace: Bool = true,
            observers: [any CallObserver] = [],
            redaction: Redaction = Redaction(),
            keepsCapsules: Bool = false
        ) {
            self.headers = headers
            self.query = query
            self.timeout = timeout
            self.deadline = deadline
            self.deadlineCoversBody = deadlineCoversBody
            givenRetries = maxRetries
            self.validators = validators
            self.retryBudget = retryBudget
            self.maximumRetryAfter = maximumRetryAfter
            self.sharesRetryAfter = sharesRetryAfter
            self.redirects = redirects
            self.maximumBufferedBody = maximumBufferedBody
            self.decoder = decoder
            self.encoder = encoder
            self.clock = clock
            self.now = now
            self.random = Self.bounded(random)
            self.recordsTrace = recordsTrace
            self.observers = observers
            self.redaction = redaction
            self.keepsCapsules = keepsCapsules
        }
    }
}

extension HTTPClient.Configuration {
    /// Nil when nobody reads records of calls.
    var observation: CallObservation.Settings? {
        guard !observers.isEmpty || keepsCapsules else { return nil }
        return CallObservation.Settings(observers, redaction, keepsInErrors: keepsCapsules ? 64 << 10 : 0)
    }

    /// Gives numbers in 0...1, whatever the other gives. Made where it is set, and not by each call that wants some.
    fileprivate static func bounded(_ random: @escaping @Sendable () -> Double) -> @Sendable () -> Double {
        // In this order what is no number becomes 0.
        { max(0, min(random(), 1)) }
    }

    var arbiterSettings: ArbiterSettings {
        ArbiterSettings(
            timeout: timeout, deadline: deadline, maxRetries: maxRetries, validators: validators, retryBudget: retryBudget,
            maximumRetryAfter: maximumRetryAfter, sharesRetryAfter: sharesRetryAfter, clock: clock, now: now, random: random)
    }
}
