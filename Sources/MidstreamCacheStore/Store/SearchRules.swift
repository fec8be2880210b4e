package import Foundation
internal import Interception

/// The `No-Vary-Search` of paths, learned from responses, and forgotten with the process.
///
/// While a rule isn't known a removal reaches only the URL as it is written. What an earlier process has stored by that rule, or this one
/// before it forgot it, is used again only if it was fetched later than that.
package final class SearchRules: Sendable {
    private struct Known {
        let rule: NoVarySearch
        /// When something of the path was removed for the last time before the rule was learned.
        let removal: Date?
    }

    private struct State {
        var known: [String: Known] = [:]
        /// When something of a path was removed for the last time.
        var removals: [String: Date] = [:]
        /// When something of one of the paths was that are no longer remembered.
        var others: Date?
    }

    private static let maximum = 4096
    private let state = Locked(State())

    package func learn(_ rule: NoVarySearch, for url: String) {
        let path = NoVarySearch.path(of: url)
        state.withLock { state in
            guard state.known[path]?.rule != rule else { return }
            if state.known.count >= Self.maximum, state.known[path] == nil { state.known = [:] }
            state.known[path] = Known(rule: rule, removal: state.removals[path] ?? state.others)
        }
    }

    /// The URL that stands for all that are the same as this one, and the time before which nothing counts that is stored for it; nil when no
    /// rule is known.
    package func canonical(_ url: String) -> (url: String, oldest: Date?)? {
        let path = NoVarySearch.path(of: url)
        guard let known = state.withLock({ $0.known[path] }), let same = known.rule.canonical(url) else { return nil }
        return (same, known.removal)
    }

    /// Notes that a URL is about to be removed, and gives the one that stands for all that are the same; nil when no rule is known.
    package func remove(_ url: String, at now: Date) -> String? {
        let path = NoVarySearch.path(of: url)
        state.withLock { state in
            if state.removals.count >= Self.maximum { (state.removals, state.others) = ([:], now) }
            state.removals[path] = now
        }
        return canonical(url)?.url
    }
}
