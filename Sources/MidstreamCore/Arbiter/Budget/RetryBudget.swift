/// What a client's retries may cost, so that a server that fails isn't hit harder for failing.
///
/// Within each window retries may cost at most a share of the calls that may be retried, and a reserve that serves clients with little
/// traffic. After a 429 or a 503, by which a server says that it has too much to do and is well otherwise, a retry costs 1; after any
/// other failure it costs 2, since a server that doesn't answer is likely to fail again. What a transport sends again by itself
/// (``TransportMetrics/resends``) costs 1, and isn't refused. A retry that a validator of the user's asks for costs nothing.
public struct RetryBudget: Sendable, Hashable {
    /// What retries may cost for each call that may be retried; 0.2 by default.
    public var share: Double
    /// What retries may cost on top of the share; 10 by default.
    public var reserve: Int
    /// How far back calls and retries count, to a tenth; 10 s by default.
    public var window: Duration

    /// Makes a budget; every parameter's default is the property's.
    public init(share: Double = 0.2, reserve: Int = 10, window: Duration = .seconds(10)) {
        self.share = share
        self.reserve = reserve
        self.window = window
    }

    /// Where a client stands.
    public struct State: Sendable, Hashable {
        /// Calls within the window that may be retried.
        public let calls: Int
        /// Counted retries within the window.
        public let retries: Int
        /// What further retries may cost now.
        public let available: Int
    }
}
