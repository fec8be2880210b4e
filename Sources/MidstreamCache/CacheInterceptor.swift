public import Interception
public import MidstreamCacheStore
public import MidstreamCore

/// Answers from what was stored, validates what is stale, and stores what passes while the caller reads it (RFC 9111).
///
/// It stands at ``InterceptorStage/exchange``, so each hop of a redirect is looked up and stored by its own URL, and inside the cookies and
/// outside what limits requests. Copies share the entries.
///
/// A failing store is a miss, and never an error of the call. The trace has the outcome and the reason.
public struct CacheInterceptor: HTTPInterceptor {
    let cache: ResponseCache

    /// Makes a cache.
    ///
    /// - Parameters:
    ///   - mode: Whose cache it is; `.private` by default.
    ///   - store: Where the entries are; 64 MiB of memory by default. Several caches of the same mode and options may share one.
    ///   - options: Settings; see ``CacheOptions`` for the defaults.
    public init(
        _ mode: CacheMode = .private, store: any CacheStore = MemoryCacheStore(), options: CacheOptions = CacheOptions()
    ) {
        cache = ResponseCache(mode, store: store, options: options)
    }

    /// `.exchange`.
    public var stage: InterceptorStage { .exchange }

    /// `.cache`.
    public var rank: InterceptorRank { .cache }

    /// What the cache did since it was made.
    public var statistics: CacheStatistics { cache.statistics }

    /// Forgets what is stored for a URL, all variants of all owners.
    ///
    /// - Parameter url: An absolute URL, as it would be given to a request.
    public func remove(_ url: String) async {
        let sent = (try? URLText.resolve(url, base: nil, query: nil)) ?? url
        await cache.forget(NormalizedURL.text(sent), on: ContinuousClock())
    }

    /// Forgets everything.
    public func removeAll() async { await cache.forgetAll(origin: nil, on: ContinuousClock()) }

    /// It serves all alike. It doesn't promise to end in time, which is up to its store.
    public var traits: InterceptorTraits { .impersonal }

    /// Answers from the store, or sends the request on and stores the response.
    ///
    /// - Throws: What `next` throws, unless a stored response may answer in the place of an error (RFC 5861 §4).
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await cache.respond(to: request, next)
    }

    /// Says what is stored, and whether it would answer.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        try await cache.plan(&request)
    }
}

extension CacheInterceptor: CustomStringConvertible, CustomReflectable {
    /// Whose cache it is, and where its entries are.
    public var description: String { "\(cache.rules.isShared ? "shared" : "private") cache in \(cache.store.name)" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["cache": description]) }
}
