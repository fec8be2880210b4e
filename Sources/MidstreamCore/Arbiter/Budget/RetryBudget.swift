/// How many of a client's requests may be retries, so that a server that fails isn't hit harder for failing.
///
/// Within each window the retries may be at most a share of the calls, and a reserve that serves clients with little traffic. A
/// retry that a validator of the user's asks for isn't counted.
public struct RetryBudget: Sendable, Hashable {
    /// The share of the calls that may be retried; 0.2 by default.
    public var share: Double
    /// How many retries are allowed on top of the share; 10 by default.
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
        /// Calls within the window.
        public let calls: Int
        /// Counted retries within the window.
        public let retries: Int
        /// How many more retries are allowed now.
        public let available: Int
    }
}
