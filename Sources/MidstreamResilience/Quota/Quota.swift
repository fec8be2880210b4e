/// A quota that several processes share, by a counter that each of them can reach.
///
/// ```swift
/// struct SharedQuota: Quota {
///     let store: TokenStore
///
///     func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision {
///         let wait = try await store.takeToken(of: key)
///         return wait > longest ? .refuses(wait: wait) : .sends(after: wait)
///     }
/// }
/// let client = HTTPClient(baseURL: "https://api.example.com") { RateLimit(quota: SharedQuota(store: store)) }
/// ```
///
/// A ``RateLimit`` calls it once for each exchange, in the request's task and from any number of tasks at once.
public protocol Quota: Sendable {
    /// Takes a place in the order of requests.
    ///
    /// - Parameters:
    ///   - key: Whose quota it is: an origin, or another key of the ``ResilienceScope``.
    ///   - longest: How long the request may wait; zero: it is sent now or not at all.
    /// - Returns: When the request may be sent. A wait that ends beyond `longest` is taken for a refusal, and the place given back.
    /// - Throws: The error that the request ends with. To let requests pass while a store can't be reached, return `.sends(after: .zero)`.
    func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision

    /// Gives back a place that isn't used: the request was cancelled while it waited, would have to wait for longer than it may take, or was
    /// refused on this side within a second, before anything of it was sent, as by a ``ConcurrencyLimit`` that is full. One for which a
    /// connection was tried has used its place, so that a server that is down isn't tried more often.
    ///
    /// Called in a task of its own, even when the client is gone by then. A process may end before: places should expire by themselves.
    /// Does nothing by default.
    func giveBack(for key: String) async

    /// Takes notice of what a server said about the quota, so that other processes hear of it. Does nothing by default.
    ///
    /// Called in the request's task, which it must not keep waiting.
    func learn(_ said: QuotaReport, for key: String)
}

extension Quota {
    /// Does nothing.
    public func giveBack(for key: String) async {}
    /// Does nothing.
    public func learn(_ said: QuotaReport, for key: String) {}
}

/// The decision of a quota about a request.
public enum QuotaDecision: Sendable, Hashable {
    /// It is sent after this time; zero: now.
    case sends(after: Duration)
    /// It isn't sent, and no place was taken: it would have to wait for so long.
    case refuses(wait: Duration)
}

/// What a response said about the quota of all requests to its server.
public struct QuotaReport: Sendable, Hashable {
    /// Whether the request was refused (429).
    public var isThrottled: Bool
    /// How many more requests the server takes for now; nil when it didn't say.
    public var left: Int?
    /// When there will be more, or how long the server wants to be left alone; nil when it didn't say.
    public var time: Duration?

    /// Makes a report.
    public init(isThrottled: Bool, left: Int? = nil, time: Duration? = nil) {
        self.isThrottled = isThrottled
        self.left = left
        self.time = time
    }
}
