/// Where an interceptor stands among those of its stage, from the outermost rank to the innermost.
///
/// Ranks exist where only one order is right, whatever the list's: cookies and credentials decide which entry of a cache is meant; what
/// a cache answers must not be refused by a breaker nor counted against a quota; what is signed must contain what all of
/// these have added. Within a rank those of the request stand outside those of the client, and then the list's order counts.
public struct InterceptorRank: Sendable, Hashable, Comparable, CustomStringConvertible {
    private let depth: Int
    /// The rank's name.
    public let description: String

    /// Decides whether http or https is spoken, which cookies and caches go by.
    public static let scheme = InterceptorRank(depth: 5, description: "scheme")
    /// Adds cookies.
    public static let cookies = InterceptorRank(depth: 10, description: "cookies")
    /// Adds credentials that are known beforehand.
    public static let credentials = InterceptorRank(depth: 15, description: "credentials")
    /// Answers from what was stored.
    public static let cache = InterceptorRank(depth: 20, description: "cache")
    /// Adds credentials that may have to be obtained first: outside what refuses requests, which the one that obtains them may have to pass
    /// as well.
    package static let obtainedCredentials = InterceptorRank(depth: 25, description: "obtained credentials")
    /// Sends a second request when the first takes long.
    public static let hedging = InterceptorRank(depth: 30, description: "hedging")
    /// Refuses requests to servers that fail.
    public static let breaker = InterceptorRank(depth: 40, description: "breaker")
    /// Bounds the number of requests in a time.
    public static let quota = InterceptorRank(depth: 50, description: "quota")
    /// Bounds the number of requests under way.
    public static let concurrency = InterceptorRank(depth: 60, description: "concurrency")
    /// Tells the server how much time is left, after all that waits.
    public static let deadline = InterceptorRank(depth: 65, description: "deadline")
    /// Signs what goes on the wire.
    public static let signing = InterceptorRank(depth: 70, description: "signing")
    /// Everything else: the default, and inside what has a rank, so that a log at ``InterceptorStage/exchange`` sees what goes on the wire.
    public static let ordinary = InterceptorRank(depth: 80, description: "ordinary")
    /// Takes the place of the transport's own work on a message.
    package static let wire = InterceptorRank(depth: 90, description: "wire")
    /// Stands for what lies behind its stage: for other calls that do the same, for a server that fails.
    public static let innermost = InterceptorRank(depth: 100, description: "innermost")

    /// The outer rank comes first.
    public static func < (a: InterceptorRank, b: InterceptorRank) -> Bool { a.depth < b.depth }
}

/// An interceptor whose rank depends on the stage that it is put at.
package protocol RankedByStage: HTTPInterceptor {
    /// Its rank at another stage than its own, in place of ``HTTPInterceptor/rank``.
    func rank(at stage: InterceptorStage) -> InterceptorRank
}
