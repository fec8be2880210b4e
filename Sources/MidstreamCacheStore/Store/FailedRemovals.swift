package import Foundation

/// Removals that a store couldn't carry out: what it still has of them counts only if it was asked for later.
package struct FailedRemovals: Sendable {
    /// How many URLs and origins are remembered; with more, everything counts as removed.
    private static let maximum = 10_000
    /// When the last one of each failed.
    private var urls: [String: Date] = [:]
    private var origins: [String: Date] = [:]
    private var all = Date.distantPast

    package init() {}

    package mutating func note(_ url: String, at now: Date) {
        urls[url] = now
        bound(now)
    }

    /// - Parameter origin: Nil: everything.
    package mutating func note(origin: String?, at now: Date) {
        if let origin { origins[origin] = now } else { all = now }
        bound(now)
    }

    private mutating func bound(_ now: Date) {
        if urls.count + origins.count > Self.maximum { (urls, origins, all) = ([:], [:], now) }
    }

    /// Those of a store's entries that count.
    package func remaining(_ entries: [CacheEntry]) -> [CacheEntry] {
        entries.filter { $0.head.requestTime > max(all, urls[$0.key.url] ?? all, origins[$0.key.origin] ?? all) }
    }
}
