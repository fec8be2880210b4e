internal import MidstreamCacheStore

internal import Foundation
internal import Interception

/// The fetches under way that others may share, and the keys whose responses mayn't be shared (RFC 9111 §4, “collapsed requests”).
final class CollapsedRequests: Sendable {
    /// The part of a request in a fetch.
    enum Role: Sendable {
        /// It is sent for all.
        case leads(SharedFetch)
        /// Another is, or has just been, sent.
        case joins(SharedFetch)
        /// It is sent for itself, since the last response to the key couldn't be shared (“hit-for-miss”).
        case passes
        /// A fetch has ended since its lookup, and may have stored something.
        case looksAgain
    }

    private struct State {
        var fetches: [CacheKey: SharedFetch] = [:]
        /// Until when a key is passed.
        var passes: [CacheKey: Date] = [:]
        /// The fetch that has ended last, and when.
        var latestKey: CacheKey?
        var latestEnd = Date.distantPast
    }

    /// How long a key is passed, in seconds.
    private static let passTime = 120.0
    private static let maximumPasses = 10_000
    private let state = Locked(State())
    private let removals: CacheRemovals
    private let now: @Sendable () -> Date

    /// - Parameter removals: Those of the store. Nobody joins a fetch during which something was removed that concerns it.
    init(_ removals: CacheRemovals, now: @escaping @Sendable () -> Date) {
        self.removals = removals
        self.now = now
    }

    /// - Parameter start: When the request's lookup began; nil: it doesn't look again.
    func role(for key: CacheKey, lookingSince start: Date?) -> Role {
        state.withLock { state in
            if !state.passes.isEmpty, let end = state.passes[key] {
                // A clock that went back doesn't prolong it.
                if case let left = end.timeIntervalSince(now()), left > 0, left <= Self.passTime {
                    guard let fetch = state.fetches[key], mayJoin(fetch) else { return .passes }
                    return .joins(fetch)
                }
                state.passes[key] = nil
            }
            let fetch = state.fetches[key]
            // Requests of one moment mostly want the same, and would each fetch it once more.
            if fetch == nil, let start, state.latestEnd >= start, state.latestKey == key { return .looksAgain }
            if let fetch, mayJoin(fetch) { return .joins(fetch) }
            let newer = SharedFetch(key, removals.permit(), in: self)
            state.fetches[key] = newer
            return .leads(newer)
        }
    }

    /// Whether nothing was removed since a fetch began that concerns its URL, or one that is the same to the server.
    private func mayJoin(_ fetch: SharedFetch) -> Bool {
        let (key, permit) = (fetch.key, fetch.permit)
        if permit.holdsForAll { return true }
        guard permit.holds(for: key) else { return false }
        guard let same = removals.searches.canonical(key.url) else { return true }
        // The removal may have come before it was known which URLs are the same.
        return [same.url, NoVarySearch.anything(like: key.url)].allSatisfy { permit.holds(for: CacheKey(url: $0)) }
    }

    /// Takes a fetch out that has failed, or that all have left, so that nobody joins it.
    func close(_ fetch: SharedFetch) { state.withLock { Self.close(fetch, &$0) } }

    /// Takes a fetch out whose response is complete, or isn't kept for others.
    func end(_ fetch: SharedFetch) { state.withLock { end(fetch, &$0) } }

    /// Notes whether others may have the response to a fetch. They may join it until its body is complete.
    func answered(_ fetch: SharedFetch, _ shared: SharedResponse?) {
        state.withLock { state in
            if shared == nil { pass(fetch.key, &state) } else if !state.passes.isEmpty { state.passes[fetch.key] = nil }
            if shared?.isArriving != true { end(fetch, &state) }
        }
    }

    /// Notes that the response to a key may be shared.
    func noteShareable(_ key: CacheKey) { state.withLock { $0.passes[key] = nil } }

    private static func close(_ fetch: SharedFetch, _ state: inout State) {
        guard let place = state.fetches.index(forKey: fetch.key), state.fetches[place].value === fetch else { return }
        state.fetches.remove(at: place)
    }

    private func end(_ fetch: SharedFetch, _ state: inout State) {
        Self.close(fetch, &state)
        (state.latestKey, state.latestEnd) = (fetch.key, now())
    }

    private func pass(_ key: CacheKey, _ state: inout State) {
        let now = now()
        if state.passes.count >= Self.maximumPasses {
            state.passes = state.passes.filter { now < $0.value }
            if state.passes.count >= Self.maximumPasses { state.passes = [:] }
        }
        state.passes[key] = now.addingTimeInterval(Self.passTime)
    }
}
