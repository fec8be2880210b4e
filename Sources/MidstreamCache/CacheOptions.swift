public import Foundation
public import MidstreamCore

/// Whose cache it is (RFC 9111 §1).
public enum CacheMode: String, Sendable, Hashable {
    /// One user's, or one program's that asks in its own name. Entries for requests with credentials are kept apart by these.
    case `private`
    /// One that answers several users from the same entries, as a gateway's does.
    case shared
}

/// The settings of a cache.
public struct CacheOptions: Sendable {
    /// How many bytes of one body are stored at most; 8 MiB by default. What is larger passes, and the caller notices nothing.
    public var maximumEntryBytes: Int64 = 8 << 20
    /// The share of the time since its last change for which a response without explicit lifetime is fresh (RFC 9111 §4.2.2); 0.1 by
    /// default.
    public var heuristicShare = 0.1
    /// How long that is at most; 24 hours by default.
    public var maximumHeuristicAge = Duration.seconds(86_400)
    /// Fields that stand for `Cache-Control` where they are there, the first one first (RFC 9213), such as `CDN-Cache-Control`; none by
    /// default.
    public var targetedFields: [HTTPHeaders.Name] = []
    /// Whose entries a request may have; those with the same name share theirs, nil: all without one. By default, in a private cache, an
    /// entry is for requests with the same `Authorization`, `Cookie` and fields marked sensitive, and what was answered to a request
    /// without any of these is for all.
    ///
    /// Give it where tokens change more often than users do.
    public var partition: (@Sendable (HTTPRequest) -> String?)?
    /// Whether a `.shared` cache stores all that RFC 9111 lets it: responses with `Set-Cookie`, and those to requests with `Cookie`,
    /// `X-API-Key` or another sensitive field but `Authorization` that aren't marked `public`, `must-revalidate` or with `s-maxage`.
    /// False by default: such responses pass without being stored, and a 304 adds no `Set-Cookie` to a stored one.
    public var sharesPersonalResponses = false
    /// How long a request waits for the response to another's request for the same; 5 seconds by default. Then one of those who wait sends
    /// another request, and the first response answers all.
    public var patience = Duration.seconds(5)
    /// Whether responses get a `Cache-Status` field (RFC 9211); false by default. ``HTTPResponse/cacheStatus`` has the same.
    public var addsCacheStatus = false
    /// The time of day; the system's by default. Stores go by the system's all the same: where this one is ahead of it, an older response
    /// that comes late takes the place of a newer one, and a fleet keeps responses for a minute.
    public var now: @Sendable () -> Date = { Date() }

    /// The defaults.
    public init() {}
}

/// What a cache did since it was made.
public struct CacheStatistics: Sendable, Hashable {
    /// Requests that were answered from the store without asking the server first.
    public var hits = 0
    /// Those that went on to the server, or waited for what another one asked for. Those that aren't for a cache don't count.
    public var misses = 0
    /// Stored responses that the server confirmed.
    public var validations = 0
    /// Requests that were answered by what another one asked for.
    public var collapsed = 0
    /// Stale responses that answered: while they were validated, after an error, or since the request let them.
    public var stale = 0
    /// Responses that were stored.
    public var stored = 0
    /// Times that the store failed.
    public var storeFailures = 0

    /// Nothing done yet.
    public init() {}
}
