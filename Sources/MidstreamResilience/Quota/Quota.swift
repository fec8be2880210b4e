/// Decides when requests may be sent, for all that share it: several processes, by a counter that each of them can reach.
///
/// ```swift
/// struct SharedCounter: Quota {
///     func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision {
///         let wait = try await store.takeToken(of: key)
///         return wait > longest ? .refuses(wait: wait) : .sends(after: wait)
///     }
/// }
/// let client = HTTPClient(baseURL: "https://api.example.com") { RateLimit(quota: SharedCounter()) }
/// ```
///
/// A ``RateLimit`` asks it once for each exchange that it would send, in the request's task and from any number of tasks at once.
public protocol Quota: Sendable {
    /// Takes a place in the order of requests.
    ///
    /// - Parameters:
    ///   - key: Whose quota it is: an origin, or another key of the ``ResilienceScope``.
    ///   - longest: How long the request may wait; zero: it is sent now or not at all.
    /// - Returns: When the request may be sent. A wait beyond `longest` is taken for a refusal, and the place given back.
    /// - Throws: What the request then ends with. To let requests pass while a store can't be reached, return `.sends(after: .zero)`.
    func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision

    /// A place isn't used: the request was cancelled while it waited, or has less time than it would have to wait.
    ///
    /// Called in the background of the client, which may end before: places should be free again after some time by themselves. Does
    /// nothing by default.
    func giveBack(for key: String) async
}

extension Quota {
    /// Does nothing.
    public func giveBack(for key: String) async {}
}

/// What a quota says to a request.
public enum QuotaDecision: Sendable, Hashable {
    /// It is sent after this time; zero: now.
    case sends(after: Duration)
    /// It isn't sent, and no place was taken: it would have to wait for so long.
    case refuses(wait: Duration)
}
