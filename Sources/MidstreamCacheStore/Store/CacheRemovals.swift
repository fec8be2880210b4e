package import Interception

/// Counts the removals of a store, so that nothing is stored that was fetched before (RFC 9111 §4.4 covers what is stored; a
/// response that is on its way is as wrong), and holds the store's fingerprint and the removals that failed.
///
/// Removals are numbered, and remembered as long as an exchange is under way that began before. Most exchanges see none, which costs one
/// comparison.
public final class CacheRemovals: Sendable {
    /// Held by one exchange, until its last reference is let go of.
    package final class Permit: Sendable {
        /// How many removals there had been when it was given.
        private let number: UInt64
        private let removals: CacheRemovals

        fileprivate init(_ number: UInt64, _ removals: CacheRemovals) {
            self.number = number
            self.removals = removals
        }

        deinit { removals.forget() }

        /// Whether nothing at all was removed since, as nearly always.
        package var holdsForAll: Bool { removals.state.withLock { $0.number == number } }

        /// Whether nothing was removed since that concerns a key.
        package func holds(for key: CacheKey) -> Bool { removals.hasNone(of: key, since: number) }

        /// The same, whatever URLs were removed alone.
        package func holds(forOriginOf key: CacheKey) -> Bool { removals.hasNone(of: key, since: number, withURLs: false) }
    }

    private struct State {
        /// How many permits are given.
        package var given = 0
        /// How many removals there were.
        package var number: UInt64 = 0
        /// Those of them that weren't heard of from others.
        package var told: UInt64 = 0
        /// The last removal of each URL and origin; those before the first permit are forgotten.
        package var urls: [String: UInt64] = [:]
        package var origins: [String: UInt64] = [:]
        /// The same of those that others have removed, by their names.
        package var names: [String: UInt64] = [:]
        /// The last removal of everything.
        package var all: UInt64 = 0
    }

    /// What others call a key's origin and URL who tell of their removals.
    package typealias Names = (origin: String, url: String)

    /// Nil: nobody tells.
    private let names: (@Sendable (CacheKey) -> Names)?
    /// How many URLs and origins are remembered; with more, everything counts as removed.
    private static let maximum = 10_000
    private let state = Locked(State())
    /// Which URLs are the same: what one cache of the store has learned another needs to remove what that one has stored.
    package let searches = SearchRules()
    /// Under one lock, since each request needs it.
    package let knowledge = Locked(Knowledge())

    /// What the caches of a store know of it.
    package struct Knowledge: Sendable {
        /// By the store's salt; nil until that is known.
        package var fingerprint: Fingerprint?
        /// Nil: none, as nearly always.
        package var failed: FailedRemovals?
        /// Whether there is any rule to ask for (``CacheRemovals/searches``).
        package var hasSearchRules = false
    }

    /// Makes a count for one store.
    public init() { names = nil }

    /// Makes a count for one store of several that tell each other of removals by names.
    package init(heardAs names: @escaping @Sendable (CacheKey) -> Names) { self.names = names }

    /// Notes that a URL is about to be removed.
    public func remove(_ url: String) {
        note { state, number in
            state.told += 1
            state.urls[url] = number
        }
    }

    /// Notes that an origin is about to be removed; nil: everything.
    public func removeAll(origin: String?) {
        note { state, number in
            state.told += 1
            if let origin { state.origins[origin] = number } else { state.all = number }
        }
    }

    /// Notes that another store has removed a URL or an origin.
    package func remove(named name: String) { note { $0.names[name] = $1 } }

    /// How many removals were noted here, as long as there is a permit: by the difference a call tells its own from others'. What other stores
    /// were heard to remove isn't counted, since they give back what this one has told them.
    package var told: UInt64 { state.withLock { $0.told } }

    /// Begins to remember removals for an exchange that is about to begin.
    package func permit() -> Permit {
        let number = state.withLock { state in
            state.given += 1
            return state.number
        }
        return Permit(number, self)
    }

    private func note(_ removal: (inout State, UInt64) -> Void) {
        state.withLock { state in
            // Exchanges that begin later have nothing to do with it.
            guard state.given > 0 else { return }
            state.number += 1
            removal(&state, state.number)
            if state.urls.count + state.origins.count + state.names.count > Self.maximum {
                (state.urls, state.origins, state.names, state.all) = ([:], [:], [:], state.number)
            }
        }
    }

    private func hasNone(of key: CacheKey, since number: UInt64, withURLs: Bool = true) -> Bool {
        state.withLock { state in
            if state.number == number { return true }
            guard state.all <= number, !withURLs || state.urls[key.url] ?? 0 <= number else { return false }
            guard state.origins.isEmpty || state.origins[key.origin] ?? 0 <= number else { return false }
            guard !state.names.isEmpty, let names = names?(key) else { return true }
            return state.names[names.origin] ?? 0 <= number && (!withURLs || state.names[names.url] ?? 0 <= number)
        }
    }

    private func forget() {
        state.withLock { state in
            state.given -= 1
            guard state.given == 0, !state.urls.isEmpty || !state.origins.isEmpty || !state.names.isEmpty else { return }
            (state.urls, state.origins, state.names) = ([:], [:], [:])
        }
    }
}
