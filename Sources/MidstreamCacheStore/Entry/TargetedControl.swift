internal import MidstreamCore

extension CacheControl {
    /// A targeted field (RFC 9213 §2): a Dictionary with the directives as its keys. Nil when it is none, is empty, or gives
    /// a directive a value of another type; it is then ignored as if it weren't there (§2.1).
    package init?(targeted values: [String]) {
        guard let dictionary = StructuredDictionary(values), !dictionary.members.isEmpty else { return nil }
        self.init()
        for (name, value) in dictionary.members {
            switch (value, Self.countsSeconds.contains(name)) {
            case (.integer(let seconds), true): take(name, hasValue: true, value: seconds < 0 ? nil : "\(seconds)")
            case (_, true): return nil
            case (.boolean(true), false): take(name, hasValue: false, value: nil)
            case (.string(let names), false): take(name, hasValue: true, value: names)
            default: break
            }
        }
    }

    private static let countsSeconds: Set<String> = ["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"]
}
