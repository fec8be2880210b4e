internal import Interception

/// The `No-Vary-Search` of paths, learned from responses, and forgotten with the process.
package final class SearchRules: Sendable {
    private static let maximum = 4096
    private let rules = Locked<[String: NoVarySearch]>([:])

    package func learn(_ rule: NoVarySearch, for url: String) {
        let path = NoVarySearch.path(of: url)
        rules.withLock { rules in
            if rules.count >= Self.maximum, rules[path] == nil { rules = [:] }
            rules[path] = rule
        }
    }

    /// The URL that stands for all that are the same as this one; nil when no rule is known.
    package func canonical(_ url: String) -> String? {
        let rule = rules.withLock { rules in rules.isEmpty ? nil : rules[NoVarySearch.path(of: url)] }
        return rule?.canonical(url)
    }
}
