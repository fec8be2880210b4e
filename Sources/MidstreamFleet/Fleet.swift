internal import Foundation
public import MidstreamAuthentication
public import MidstreamCacheStore
internal import MidstreamTransport
public import MidstreamResilience
#if os(Linux)
    internal import MidstreamWire
#endif

/// Several processes that share tokens, quotas and cached responses over Redis, as one member of them sees it.
///
/// ```swift
/// let fleet = try Fleet(.redis("rediss://redis.example.com"), name: "billing", key: .environment("FLEET_KEY"))
/// let client = HTTPClient(baseURL: "https://api.example.com") {
///     AuthenticationInterceptor(fleet.sharing(oauth, as: "partner-api", whenAlone: .waits))
///     RateLimit(quota: fleet.quota("partner-api", perSecond: 100, burst: 50))
///     CacheInterceptor(.shared, store: TieredStore(MemoryCacheStore(), fleet.cache(), forgetting: fleet.invalidations))
/// }
/// ```
///
/// Redis is never in the way: an answer is waited for at most `patience`, and not at all while there has been none lately; decisions
/// are made locally then. Only a token that is needed waits for the first connection, 2 s at most. Nothing is opened before it is needed.
/// Everything ends with ``close()``, or when neither the fleet nor what it has made is referenced any more.
public final class Fleet: Sendable {
    let core: FleetCore

    /// Makes a member.
    ///
    /// - Parameters:
    ///   - server: What the members share.
    ///   - name: The fleet's: members with the same name share. Not to be found in the store.
    ///   - patience: How long an answer of the store is waited for, in a call; 20 ms by default.
    ///   - members: How many members there are as long as nobody has counted; 1 by default.
    ///   - key: What tokens and responses are sealed with.
    ///   - clock: What times are measured by in this process; the continuous clock by default. Those that members share are Redis'.
    /// - Throws: ``FleetServer/Invalid``; what making the key throws.
    public convenience init(
        _ server: FleetServer, name: String, patience: Duration = .milliseconds(20), members: Int = 1, key: FleetKey,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        try self.init(server, name: name, patience: patience, members: members, key: key, clock: clock, limits: .init())
    }

    convenience init(
        _ server: FleetServer, name: String, patience: Duration, members: Int, key: FleetKey, clock: any Clock<Duration>,
        limits: RedisLink.Limits
    ) throws {
        let address = try RedisAddress(server)
        let member = UUID().uuidString
        let link = RedisLink(
            RedisLink.Settings(
                patience: patience, names: FleetNames(fleet: name, key: key), greeting: address.greeting(as: "midstream"),
                member: member, expectedMembers: members, clock: clock, limits: limits),
            dial: Self.dial(address))
        self.init(FleetCore(name: name, key: key, member: member, clock: clock, store: RedisStore(link), link: link))
    }

    init(_ core: FleetCore) { self.core = core }

    private static func dial(_ address: RedisAddress) -> RedisSession.Dial {
        #if os(Linux)
            let transport = WireTransport(
                configuration: TransportConfiguration(
                    unixSocketPath: address.socketPath, idleTimeout: nil, usesCallersThreads: false))
            return { try await transport.connect(to: address.origin, tls: address.tls, timeout: .seconds(60)) }
        #else
            return { throw StoreFailure.unreachable("fleets need the wire transport, which is there on Linux only") }
        #endif
    }

    /// Has a token refreshed once for all members.
    ///
    /// - Parameters:
    ///   - authenticator: Obtains tokens, such as an `OAuthAuthenticator` with a store in memory.
    ///   - name: The token's: members that use the same one share it.
    ///   - whenAlone: What is done while the store doesn't answer; nil, the default: ``TokenWhenAlone/refreshAlone`` for client credentials
    ///     and for a token without a refresh token, otherwise ``TokenWhenAlone/useOldUntilExpired``, also while no token is known yet.
    ///   - refreshTimeout: How long the issuer may take; 60 s by default. When a member disappears while it refreshes, another one takes
    ///     over 15 s after that.
    ///   - reuseInterval: How long the issuer takes a refresh token that was used already; another member takes over after that time then.
    ///     nil, the default: it takes none.
    public func sharing<Base: Authenticator>(
        _ authenticator: Base, as name: String, whenAlone: TokenWhenAlone? = nil, refreshTimeout: Duration = .seconds(60),
        reuseInterval: Duration? = nil
    ) -> FleetAuthenticator<Base> where Base.Credential == OAuthToken {
        FleetAuthenticator(
            authenticator, core, name: name, whenAlone: whenAlone, refreshTimeout: refreshTimeout, reuseInterval: reuseInterval)
    }

    /// A quota that all members keep together. What servers say about it (429) is heard by all.
    ///
    /// - Parameters:
    ///   - name: The quota's: members that use the same one share it.
    ///   - perSecond: How many requests a second; of each key of the ``RateLimit``.
    ///   - burst: How many at once after a rest; those of one second by default, at least 1.
    ///   - whenAlone: What is done while the store doesn't answer; ``QuotaWhenAlone/share`` by default.
    ///   - floor: How many requests a second a member may make at least when it is alone; a hundredth of `perSecond` by default.
    ///   - longest: How long a request may wait for its turn; 10 s by default, and as long as the ``RateLimit`` lets it.
    public func quota(
        _ name: String, perSecond: Double, burst: Double? = nil, whenAlone: QuotaWhenAlone = .share, floor: Double? = nil,
        longest: Duration = .seconds(10)
    ) -> some Quota {
        FleetQuota(core, name, perSecond: perSecond, burst: burst, whenAlone: whenAlone, floor: floor, longest: longest)
    }

    /// A store of cached responses that all members share.
    ///
    /// - Parameter maximumBody: Up to how many bytes a body is kept; 4 MiB by default, and at most.
    public func cache(maximumBody: Int = 4 << 20) -> some CacheStore {
        FleetCacheStore(core: core, maximumBody: min(max(0, maximumBody), StoredResponse.longestBody))
    }

    /// What members, this one included, replace or forget in the shared store, for a ``TieredStore``: URLs that were read by this member, each
    /// as anybody's key, whoever's entries have changed. A stream of its own each time; one that isn't read keeps the newest 30,000.
    public var invalidations: AsyncStream<CacheKey> { core.near.forgotten.stream() }

    /// How this member is doing.
    public var state: FleetState { core.fleetState }

    /// The same, each time that the store begins or ceases to answer; the present one at first. A stream of its own each time.
    public var states: AsyncStream<FleetState> { core.states() }

    /// Gives up the store for good; what the fleet has made goes on as if that didn't answer. Harmless when repeated.
    public func close() { core.close() }
}

extension Fleet: CustomStringConvertible, CustomReflectable {
    /// The state.
    public var description: String { "fleet: \(state)" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["state": "\(state)"]) }
}
